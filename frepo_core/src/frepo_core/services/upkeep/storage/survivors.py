"""Reads what stays of a content before an object of it is deleted: the gate relies only on what was read since."""

import logging

from sqlalchemy import select

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.errors import StorageError

from ...content.blobs.blob_reader import BlobReader
from ...content.objects.states import CURRENT, ObjectState
from ...content.storages.backends import Backends

log = logging.getLogger(__name__)


def read_survivors(database: Database, backends: Backends, object_id: int) -> None:
    """Read the current objects of the content of an object. What is wrong is marked.

    A storage that does not work is logged: the gate refuses then.
    """
    with database.reading() as session:
        row = session.get(StoredObject, object_id)
        if row is None:
            return
        others = (StoredObject.content_id == row.content_id, StoredObject.id != row.id)
        present = (StoredObject.slot == CURRENT, StoredObject.state == ObjectState.PRESENT.value)
        found = session.scalars(select(StoredObject).where(*others, *present).order_by(StoredObject.id)).all()
    reader = BlobReader(database, backends)
    for other in found:
        try:
            reader.read(other)
        except StorageError as error:
            log.warning("%s in %s was not read, so what it replaces stays: %s", other.key, other.storage, error.message)
