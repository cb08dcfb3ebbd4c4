"""Compares a database with a storage, for the operator who decides whether the database shall own it."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select

from frepo_core.db import Database, utc_now
from frepo_core.db.models import StoredObject
from frepo_core.domain.structs import struct
from frepo_core.plugins import BlobStat

from ...base.installation import ensure_id
from ...content.objects.states import ENDED
from ...content.storages.backends import Backends
from ...content.storages.owner_mark import OwnerMark
from ...content.storages.sweep_guard import Ownership
from .orphans import take_inventory
from .progress import Progress, no_progress


@struct
class Comparison:
    """Both sides. `problem` is None if the storage is this database's alone.

    :param database: its id
    :param mark: the last mark that this database stored, or None
    :param rows: the number of its blobs that are in this storage according to it, and `newest` the time of the last one
    :param marks: all marks in the storage, and `notes` what each says about its origin
    :param blobs: the number of frepo's blobs in the storage
    :param unknown: those blobs that the database does not know
    :param older: the number of those that are older than the first mark of this database
    """

    problem: str | None
    database: str
    mark: OwnerMark | None
    rows: int
    newest: datetime | None
    marks: Sequence[OwnerMark]
    notes: Sequence[str]
    blobs: int
    unknown: Sequence[BlobStat]
    older: int

    @property
    def missing(self) -> int:
        """The number of rows whose bytes are not in the storage, as far as the numbers tell."""
        return max(0, self.rows - (self.blobs - len(self.unknown)))


def compare(database: Database, backends: Backends, *, storage: str, progress: Progress = no_progress) -> Comparison:
    """List the storage and compare it with the database. Changes nothing."""
    backend, ownership = backends.get(storage), Ownership(database, backends)
    found = take_inventory(database, backend, storage=storage, before=utc_now(), progress=progress)
    with database.reading() as session:
        known = (StoredObject.storage == storage, StoredObject.key.is_not(None), StoredObject.state.not_in(ENDED))
        query = select(func.count(StoredObject.id), func.max(StoredObject.stored_at)).where(*known)
        rows, newest = session.execute(query).one()
    first = ownership.find_first(storage)
    marks = sorted(found.marks, key=lambda mark: (mark.epoch, mark.key))
    return Comparison(
        problem=ownership.find_problem(storage, marks),
        database=ensure_id(database),
        mark=ownership.current(storage),
        rows=rows,
        newest=newest,
        marks=marks,
        notes=[mark.read_note(backend) for mark in marks],
        blobs=found.blobs,
        unknown=found.orphans,
        older=sum(first is not None and stat.modified <= first for stat in found.orphans),
    )
