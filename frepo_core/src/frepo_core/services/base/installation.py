"""The id of the installation: a random name for the database, made when it is installed."""

import json
from uuid import uuid4

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Installation
from frepo_core.errors import ConfigurationError

ID = "id"
# After a recovery: the id of the database from which it was recovered. What was derived from it must stay the same.
IDS_FROM = "ids_from"
# While a recovery has not ended: what it recovers from.
RECOVERY = "recovery"


def ensure_id(database: Database) -> str:
    """Return the id of the database, 32 hex digits; make one if it has none. A copy of a database has the same id."""
    with database.reading() as session:
        found = session.scalar(select(Installation.value).where(Installation.name == ID))
    return found or database.write(_make)


def _make(session: Session) -> str:
    if found := session.get(Installation, ID):  # another process has made it meanwhile
        return found.value
    made = Installation(name=ID, value=uuid4().hex)
    session.add(made)
    session.flush()
    return made.value


def find_origin(database: Database) -> str:
    """Return the id from which ids of collections are derived: that of the first database, also after recoveries."""
    with database.reading() as session:
        found = session.scalar(select(Installation.value).where(Installation.name == IDS_FROM))
    return found or ensure_id(database)


def require_no_recovery(database: Database) -> None:
    """Raise `ConfigurationError` if a recovery of the database was interrupted: it lacks objects then."""
    with database.reading() as session:
        found = session.scalar(select(Installation.value).where(Installation.name == RECOVERY))
    if found:
        storage = json.loads(found)["storage"]
        raise ConfigurationError(
            f"The recovery of this database was interrupted. Repeat it: frepo recover --from {storage}"
        )
