"""The id of the installation: a random name for the database, made when it is installed."""

from uuid import uuid4

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Installation

_NAME = "id"


def ensure_id(database: Database) -> str:
    """Return the id of the database, 32 hex digits; make one if it has none. A copy of a database has the same id."""
    with database.reading() as session:
        found = session.scalar(select(Installation.value).where(Installation.name == _NAME))
    return found or database.write(_make)


def _make(session: Session) -> str:
    if found := session.get(Installation, _NAME):  # another process has made it meanwhile
        return found.value
    made = Installation(name=_NAME, value=uuid4().hex)
    session.add(made)
    session.flush()
    return made.value
