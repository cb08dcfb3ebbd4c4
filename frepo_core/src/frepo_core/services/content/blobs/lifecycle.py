"""The life of blobs: stored by uploads, once per content, and deleted when neither a file nor the trash uses them."""

import logging
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Blob
from frepo_core.errors import DatabaseUnavailableError

from ..copies.copy_waits import CopyWaits
from ..copies.wishes import want_all
from ..held_bytes import HeldBytes
from ..storages.backends import Backends
from ..storages.storage_deadlines import Patience
from ..storages.storage_troubles import StorageStates
from ..storages.write_guard import Presence
from .blob_use import is_used
from .failpoints import hit

log = logging.getLogger(__name__)


class _Deleted(NamedTuple):
    """Where the bytes of a deleted row are, and the blob that they needed."""

    storage: str
    key: str
    base_id: int | None


class Blobs:
    """What uploads need to store blobs, and the deletion of those that nothing uses any more."""

    def __init__(
        self,
        database: Database,
        backends: Backends,
        presence: Presence,
        states: StorageStates,
        held: HeldBytes,
        wait: timedelta = timedelta(),
    ) -> None:
        """An upload may `wait` for its second copy."""
        self.database = database
        self.backends = backends
        self.presence = presence
        self.states = states
        self.patience = Patience()
        self.held = held
        self.copy_waits = CopyWaits(database, backends, presence, wait)

    def want_copies(self, session: Session, blob_ids: Sequence[int]) -> None:
        """Note that blobs that are used again want second copies, as their collections or the service say."""
        want_all(session, self.backends, blob_ids)

    def collect(self, blob_ids: Iterable[int]) -> None:
        """Delete those of the blobs that no row uses: the row first, then the bytes, one transaction for each blob.

        Never raises: failures are logged, and `storage:sweep` deletes the rest. It ends if the database does not
        answer.
        """
        left = set(blob_ids)
        while left:
            blob_id = left.pop()
            try:
                left.update(self._collect(blob_id))
            except DatabaseUnavailableError as error:
                log.error(
                    "%d blobs were not collected, storage:sweep will delete them: %s", len(left) + 1, error.message
                )
                break
            except Exception:
                log.exception("blob %s was not collected, storage:sweep will delete it", blob_id)
        self.database.refill_reserve()

    def _collect(self, blob_id: int) -> list[int]:
        """Delete a blob unless it is used. Return its base, which perhaps nothing else uses."""
        hit("collect")
        found = self.database.write(lambda session: _delete_unused_row(session, blob_id), may_use_reserve=True)
        if found:
            hit("blob_row_deleted")
            self.backends.get(found.storage).delete(found.key)
            hit("collected")
        return [found.base_id] if found and found.base_id else []


def _delete_unused_row(session: Session, blob_id: int) -> "_Deleted | None":
    """Delete the blob's row unless it is used; return where its bytes are, or None."""
    row = session.scalar(select(Blob).where(Blob.id == blob_id).with_for_update())
    # Read after the lock: nobody begins to use the blob without it.
    if row is None or session.scalar(select(Blob.id).where(Blob.id == blob_id, is_used())):
        return None
    session.delete(row)
    return _Deleted(row.storage, row.key, row.base_id)
