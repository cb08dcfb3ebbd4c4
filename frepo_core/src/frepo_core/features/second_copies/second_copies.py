"""What the nucleus asks for second copies, answered by this feature."""

from collections.abc import Mapping, Sequence

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import StoredObject
from frepo_core.services.base.copy_count import CopyCount
from frepo_core.services.base.records import BlobRecord
from frepo_core.services.content.blobs.blob_reader import new_gate
from frepo_core.services.content.copies import Copies
from frepo_core.services.content.objects.states import CURRENT, ObjectState
from frepo_core.services.foundation import Foundation

from .copy_waits import CopyWaits
from .mirror_setting import check_mirror
from .upload_wishes import want_copy


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
