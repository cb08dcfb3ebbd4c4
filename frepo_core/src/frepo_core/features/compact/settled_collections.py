"""Knows which collections have not changed since nothing was to be done in them, so that no run reads these again."""

from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Collection, File, StoredObject, TrashEntry, Version
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.structs import struct

# What other collections and plain files do with the same contents is not seen before.
LONGEST = timedelta(days=1)

Mark = tuple[Any, ...]
Marks = Select[*tuple[Any, ...]]


@struct
class _Settled:
    """What a collection was like when nothing was to be done, and until when that holds if nothing changes."""

    mark: Mark
    until: datetime


class SettledCollections:
    """Remembers them in the memory of the process."""

    def __init__(self) -> None:
        self._settled: dict[str, _Settled] = {}

    def note(self, collection_id: str, mark: Mark, now: datetime, until: datetime | None) -> None:
        """Note that nothing is to be done now, and that only time changes that, at `until`."""
        longest = now + LONGEST
        self._settled[collection_id] = _Settled(mark=mark, until=min(until or longest, longest))

    def has(self, collection_id: str, mark: Mark, now: datetime) -> bool:
        """Return whether there is still nothing to do. What has changed is forgotten."""
        found = self._settled.get(collection_id)
        if found is not None and found.mark == mark and now < found.until:
            return True
        self._settled.pop(collection_id, None)
        return False


def read_marks(session: Session) -> Callable[[str], Mark]:
    """Return what tells one state of a collection from another: of its row, its versions, their objects, its trash."""
    found = defaultdict[str, Mark](tuple)
    for query in (_of_rows(), _of_versions(), _of_trash()):
        for collection_id, *values in session.execute(query):
            found[collection_id] += tuple(values)
    return lambda collection_id: found[collection_id]


def _of_rows() -> Marks:
    """The settings that decide how long versions stay, and where."""
    row = Collection
    limits = (row.max_backups_count, row.max_collection_size, row.strategy, row.strategy_options, row.min_retention)
    return select(row.id, *limits, row.expected_every, row.storage, row.mirror, row.locked, row.compact_group)


def _of_versions() -> Marks:
    """Sums over the versions, which change with each that is added, removed, judged, held or stored in another way."""
    weights = {Verdict.PENDING: 1, Verdict.SUSPICIOUS: 1_000, Verdict.BROKEN: 1_000_000}
    bad = case({name.value: weight for name, weight in weights.items()}, value=Version.verdict, else_=0)
    pinned = func.sum(case((Version.pinned, Version.number), else_=0))
    held = (pinned, func.max(Version.protected_until), func.max(Version.locked_until))
    quarantined = func.sum(case((Version.quarantined_at.is_not(None), Version.number), else_=0))
    pending = func.count(Version.pending_since)
    numbers = (func.count(), func.sum(Version.number), func.sum(bad * Version.number))
    objects = (func.max(StoredObject.id), func.sum(case((StoredObject.state == "present", 1), else_=0)))
    query = select(Version.collection_id, *numbers, *held, quarantined, pending, *objects)
    query = query.join(File, File.id == Version.file_id)
    return query.outerjoin(StoredObject, StoredObject.content_id == File.content_id).group_by(Version.collection_id)


def _of_trash() -> Marks:
    entry = TrashEntry
    sums = (func.count(), func.max(entry.id), func.max(entry.ends_at), func.max(entry.locked_until))
    return select(entry.collection_id, *sums).group_by(entry.collection_id)
