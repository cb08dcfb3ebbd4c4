"""The clock of the database, which all processes share."""

from typing import Any

from sqlalchemy import Select, literal_column, select

from .types import UtcDateTime

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
