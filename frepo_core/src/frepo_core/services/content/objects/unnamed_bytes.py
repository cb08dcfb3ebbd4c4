"""Deletes bytes that were stored and are not needed, unless a row names them by now."""

import logging

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.errors import DatabaseUnavailableError

from ..storages.backends import Backends

log = logging.getLogger(__name__)


def delete_unnamed(database: Database, backends: Backends, storage: str, key: str) -> None:
    """Delete bytes for which whoever stored them has inserted no row.

    A sweep or a recovery may have found them meanwhile, and a content may rely on them: then the gate decides. Never
    raises, because the result of the work is decided already.
    """
    try:
        if not _is_named(database, storage, key):
            backends.get(storage).delete(key)
    except Exception:
        log.exception("the bytes %s in %s were not deleted, storage:sweep will delete them", key, storage)


def is_named(session: Session, storage: str, key: str) -> bool:
    """Return whether a row names the bytes."""
    named = select(StoredObject.id).where(StoredObject.storage == storage, StoredObject.key == key)
    return session.scalar(named) is not None


def _is_named(database: Database, storage: str, key: str) -> bool:
    """Return whether a row names the bytes. If the database does not answer, nobody has found them."""
    try:
        with database.reading() as session:
            return is_named(session, storage, key)
    except DatabaseUnavailableError:
        return False
