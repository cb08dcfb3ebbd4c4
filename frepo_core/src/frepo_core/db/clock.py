"""The clock of the database, which all processes share."""

from datetime import datetime
from typing import Any

from sqlalchemy import Select, literal_column, select
from sqlalchemy.orm import Session

from .types import UtcDateTime, is_simulated, utc_now

_FUNCTIONS = {
    # PostgreSQL's now() is the start of the transaction.
    "postgresql": "clock_timestamp() AT TIME ZONE 'UTC'",
    "mysql": "UTC_TIMESTAMP(6)",
    "mariadb": "UTC_TIMESTAMP(6)",
}


def clock_query(dialect: str) -> Select[Any] | None:
    """Return a query of the current time (aware, UTC), or None for SQLite, whose clock is this machine's."""
    function = _FUNCTIONS.get(dialect)
    return select(literal_column(function, UtcDateTime())) if function else None


def read_clock(session: Session) -> datetime:
    """Return the time of the database's clock (aware, UTC), in the session's transaction.

    Times of objects are written and compared with it, because those of hosts differ.
    """
    query = None if is_simulated() else clock_query(session.get_bind().dialect.name)
    return utc_now() if query is None else session.execute(query).scalar_one()
