"""Inserts single rows on the write path of uploads. Through the models, an insert takes three to four times as long."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Insert, insert
from sqlalchemy.orm import Session

from . import prepared_statements
from .models.base import Base


def insert_of(model: type[Base]) -> Insert:
    """Return the statement that inserts into a model's table. Build it once: SQLAlchemy then compiles it once."""
    return insert(Base.metadata.tables[model.__tablename__])


def insert_row(session: Session, statement: Insert, values: Mapping[str, Any]) -> int:
    """Insert a row in the session's transaction; return its id, which the database chooses.

    Pending changes of models are not written before it.
    """
    return prepared_statements.insert(session.connection(), statement, values)


def insert_rows(session: Session, statement: Insert, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows with known ids, or whose ids nobody needs, in the session's transaction."""
    if len(rows) == 1:
        prepared_statements.change(session.connection(), statement, rows[0])
    else:
        session.connection().execute(statement, [dict(row) for row in rows])
