"""The wish for a second copy, in the transaction of an upload: no statement more than it needs."""

from collections.abc import Mapping

from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.clock import read_clock
from frepo_core.db.models import StoredObject
from frepo_core.db.row_inserts import insert_of, insert_rows
from frepo_core.services.base.copy_count import CopyCount
from frepo_core.services.base.records import BlobRecord
from frepo_core.services.content.objects.places import find_leaving
from frepo_core.services.content.objects.states import CURRENT, ObjectState
from frepo_core.services.content.objects.wishes import wish

_INSERT = insert_of(StoredObject)


def want_copy(session: Session, blob: BlobRecord, storage: str, current: Mapping[str, StoredObject]) -> CopyCount:
    """Insert the wish for a copy of the content in this storage, unless it is in it, or shall get into it.

    `current` are the current objects of a content that was known, by storage. Return how many sound copies there are,
    and how many there should be.
    """
    if blob.storage == storage:
        return CopyCount(present=1, wanted=1)
    found = current.get(storage)
    if found is None and not blob.is_new and (found := find_leaving(session, blob.id, storage)):
        found.state, found.slot, found.delete_after = ObjectState.PRESENT.value, CURRENT, None
        found.since = read_clock(session)
    if found is None:
        now = utc_now()
        insert_rows(session, _INSERT, [wish(blob.id, blob.digest, blob.size, storage, now, now)])
    return CopyCount(present=2 if found is not None and found.state == ObjectState.PRESENT else 1, wanted=2)
