"""What the nucleus asks for second copies, answered by this feature."""

from collections.abc import Mapping, Sequence

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.clock import read_clock
from frepo_core.db.models import StoredObject
from frepo_core.db.row_inserts import insert_of, insert_rows
from frepo_core.errors import ConfigurationError
from frepo_core.services.base.records import BlobRecord
from frepo_core.services.base.records.file_records import CopyCount
from frepo_core.services.content.blobs.blob_reader import new_gate
from frepo_core.services.content.copies import Copies
from frepo_core.services.content.objects.places import find_leaving
from frepo_core.services.content.objects.states import CURRENT, ObjectState
from frepo_core.services.content.objects.wishes import wish
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.foundation import Foundation
from frepo_core.settings import Settings

from .copy_waits import CopyWaits


class SecondCopies(Copies):
    """Raises `ConfigurationError` if the setting `mirror` names a storage that cannot have the copies."""

    def __init__(self, base: Foundation) -> None:
        check_mirror(base.settings, base.backends)
        self._database = base.database
        self._backends = base.backends
        gate = new_gate(base.database, base.backends, base.presence)
        self._waits = CopyWaits(base.database, base.backends, base.presence, gate, base.settings.mirror_wait)
        self.fallbacks = None
        if len(base.backends.configured) > 1 or base.settings.mirror:
            from .fallback_notes import FallbackNotes

            self.fallbacks = FallbackNotes(
                base.database,
                base.backends,
                base.presence,
                base.storage_states,
                is_read_only=base.settings.read_only,
            )

    def want(
        self, session: Session, blob: BlobRecord, storage: str, current: Mapping[str, StoredObject]
    ) -> CopyCount | None:
        """Insert the wish for the copy, as `want_copy` does."""
        return want_copy(session, blob, storage, current)

    def wait_for(self, content_id: int, storage: str) -> bool:
        """Make the copy at once, as `CopyWaits` does."""
        return self._waits.make_copy(content_id, storage)

    def note_mirror_change(self, session: Session, collection_id: str) -> None:
        """Let the job compare what the collection has with its copies."""
        from .gaps import note_change

        note_change(session, collection_id)

    def count(self, blobs: Sequence[BlobRecord]) -> Mapping[int, CopyCount]:
        """Count the copies in the rows of their objects."""
        if len(self._backends.configured) == 1 or not blobs:
            return {}
        is_present = case((StoredObject.state == ObjectState.PRESENT.value, 1), else_=0)
        ids = (StoredObject.content_id.in_({blob.id for blob in blobs}), StoredObject.slot == CURRENT)
        query = select(StoredObject.content_id, func.sum(is_present), func.count()).where(*ids)
        with self._database.reading() as session:
            rows = session.execute(query.group_by(StoredObject.content_id))
            return {
                content_id: CopyCount(present=int(present), wanted=wanted)
                for content_id, present, wanted in rows
                if content_id is not None and wanted > 1
            }

    def storages(self) -> Sequence[str]:
        """Find the names in the rows of objects."""
        from .lag import find_copy_storages

        return find_copy_storages(self._database, self._backends)


def check_mirror(settings: Settings, backends: Backends) -> None:
    """Raise `ConfigurationError` if the setting names no configured storage, or the first one of the settings."""
    name = settings.mirror
    if not name:
        return
    if name == backends.setting:
        raise ConfigurationError(
            f"mirror (MIRROR) is {name!r}, which is the storage for new blobs. Name another storage, or leave it empty"
        )
    try:
        backends.check_name(name)
    except ConfigurationError as error:
        raise ConfigurationError(f"mirror (MIRROR) is {name!r}: {error.message}") from error


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
