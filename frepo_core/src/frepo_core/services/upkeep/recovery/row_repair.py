"""Lets contents that a restored database knows use the bytes that are found, if theirs are not where they were.

They were moved or encoded since the backup of the database.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, File, TrashEntry, Version
from frepo_core.errors import FrepoError

from ...content.blobs.blob_damage import MISSING
from ...content.blobs.blob_use import is_used
from ...content.chains.dependents import outdate_copies, store_raw, verify_dependents
from ...content.copies.marks import mark_first
from ...content.copies.returning import take_over
from ...content.storages.backends import Backends
from ...events.blob_facts import blob_healed
from ...events.recording import record
from ..storage.copied_blob import is_sound, lock_content, use_instead
from .found_objects import FoundObjects
from .object_levels import FoundObject, ObjectLevels
from .staging import Key, Staging, StoredBlob

PAGE = 200


@dataclass(kw_only=True)
class RepairReport:
    """The number of contents that were found in another place, and the versions and files whose bytes are nowhere."""

    found: int = 0
    versions: list[Key] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


class RowRepair:
    """Compares the rows of contents with what the staging lists."""

    def __init__(
        self, database: Database, backends: Backends, staging: Staging, levels: ObjectLevels, found: FoundObjects
    ) -> None:
        self._database = database
        self._backends = backends
        self._staging = staging
        self._levels = levels
        self._found = found

    def run(self) -> RepairReport:
        """Repair what can be repaired. What has another copy that is known is left to the job `mirror`."""
        report = RepairReport()
        for page in self._pages():
            listed = self._staging.locate([row.digest for row in page])
            for row in page:
                is_listed = any(_is_of(place, row) for place in listed.get(row.digest, ()))
                if not (is_listed and row.damaged_at is None) and not self._is_there(row):
                    self._repair(row, report)
        return report

    def _pages(self) -> Iterator[Sequence[Blob]]:
        after = 0
        while True:
            query = select(Blob).where(Blob.id > after, is_used()).order_by(Blob.id).limit(PAGE)
            with self._database.reading() as session:
                rows = session.scalars(query).all()
            if not rows:
                return
            yield rows
            after = rows[-1].id

    def _is_there(self, row: Blob) -> bool:
        """Return whether the bytes of a row are there, also if they were stored since, or if the storage is away."""
        try:
            return is_sound(self._backends.get(row.storage), row)
        except FrepoError:
            return True

    def _repair(self, row: Blob, report: RepairReport) -> None:
        objects = self._levels.find({row.digest: row.size})[row.digest]
        others = [one for one in objects if not _is_of(one.place, row)]
        place = self._found.find_sound(sorted(others, key=lambda one: _order(one, row.storage)))
        if place is not None:
            report.found += self._database.write(partial(self._use, row, place))
            return
        with self._database.reading() as session:
            _name_users(session, row, report)
        self._database.write(lambda session: mark_first(session, row.id, row.key, MISSING, by=None))

    def _use(self, seen: Blob, place: StoredBlob, session: Session) -> bool:
        """Let a row name the bytes at the place, or all that uses it use the row of this content in that storage."""
        rows = lock_content(session, seen.digest, (seen.storage, place.storage))
        row, other = rows.get(seen.storage), rows.get(place.storage)
        if row is None or row.key != seen.key:
            return False
        if other is not None and other is not row:
            use_instead(session, row, other)
            session.flush()
            row = other
        if row.key == place.key or is_sound(self._backends.get(row.storage), row):
            return True
        if take_over(session, place.storage, [place.key]):
            return bool(mark_first(session, row.id, row.key, MISSING, by=None))  # the job mirror repairs it
        store_raw(row, place.key)
        row.storage, row.verified_at, row.damaged_at = place.storage, utc_now(), None
        outdate_copies(session, row.id)
        verify_dependents(session, row.id)
        record(session, blob_healed(session, row, by=None))
        return True


def _is_of(place: StoredBlob, row: Blob) -> bool:
    return (place.storage, place.key, place.size) == (row.storage, row.key, row.object_size)


def _order(found: FoundObject, storage: str) -> tuple[bool, bool, int]:
    return not found.is_decodable, found.place.storage != storage, found.level


def _name_users(session: Session, row: Blob, report: RepairReport) -> None:
    """Add what uses a content to the report."""
    files = select(File.stored_name, Version.collection_id, Version.number).where(File.blob_id == row.id)
    for name, collection, number in session.execute(files.outerjoin(Version, Version.file_id == File.id)):
        if collection:
            report.versions.append((collection, number))
        else:
            report.files.append(name)
    trash = select(TrashEntry.collection_id, TrashEntry.number).where(TrashEntry.blob_id == row.id)
    report.versions += [(collection, number) for collection, number in session.execute(trash)]
