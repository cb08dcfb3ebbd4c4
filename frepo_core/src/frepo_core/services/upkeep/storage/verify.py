"""Reads objects and compares them with their digests. Damage is reported and marked; nothing is deleted."""

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import TypedDict, Unpack

from sqlalchemy import ColumnElement, and_, func, literal, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import StoredObject
from frepo_core.domain.identity import By
from frepo_core.domain.structs import struct
from frepo_core.errors import StorageError

from ...content.blobs.blob_reader import BlobReader, Damage
from ...content.objects.states import CURRENT, ObjectState
from ...content.objects.uses import is_second
from ...content.storages.backends import Backends
from ..full_checks import FIRST_SIDE, note_full_check
from .progress import Progress, count_objects, no_progress

log = logging.getLogger(__name__)

PAGE = 200


# The names of values in the table `installation`. No storage has the name of the first side.


_BAD = (ObjectState.DAMAGED, ObjectState.MISSING)


@struct
class Queue:
    """The current objects to check, for which `which` is true: ids up to `newest`, and not read since `cutoff`.

    Those that are known to be damaged are due if they were not read since `started`.
    """

    newest: int
    cutoff: datetime
    started: datetime
    which: ColumnElement[bool]

    def is_due(self) -> ColumnElement[bool]:
        """Return the condition. Make a new one for each query, so that no object that was read is due again."""
        read_at = StoredObject.read_at
        is_old = or_(read_at.is_(None), read_at < self.cutoff, read_at > utc_now())
        is_bad = StoredObject.state.in_(_BAD)
        may_be_right_again = and_(is_bad, read_at < self.started)
        is_read = or_(is_bad, StoredObject.state == ObjectState.PRESENT.value)
        is_current = and_(StoredObject.slot == CURRENT, StoredObject.key.is_not(None), self.which)
        return and_(StoredObject.id <= self.newest, is_current, is_read, or_(is_old, may_be_right_again))

    def parts(self) -> Sequence[Sequence[ColumnElement[bool]]]:
        """Return the parts in which objects are read, and the conditions of each: an index finds each in its order.

        First those that are due because they are damaged, then dates in the future, then the oldest.
        """
        now, read_at = utc_now(), StoredObject.read_at
        # An expression, because the few damaged ones are to be found by their states.
        known_at = func.coalesce(read_at, literal(self.started, read_at.type))
        is_recent = or_(and_(known_at >= self.cutoff, known_at < self.started), known_at > now)
        present = StoredObject.state == ObjectState.PRESENT.value
        parts: list[list[ColumnElement[bool]]] = [
            [and_(StoredObject.state.in_(_BAD), is_recent)],
            [and_(present, read_at > now), and_(present, read_at.is_(None), StoredObject.stored_at > now)],
        ]
        states = (present, *(StoredObject.state == state.value for state in _BAD))
        old = [and_(state, read_at < self.cutoff) for state in states]
        never = [and_(state, read_at.is_(None), StoredObject.stored_at <= now) for state in states]
        return [*parts, [*old, *never]]

    def next(self, session: Session, failing: Collection[str], count: int) -> list[StoredObject]:
        """Return the next `count` objects. The number of rows that are read for them does not depend on all objects."""
        found: list[StoredObject] = []
        for part in self.parts():
            rows: list[StoredObject] = []
            for condition in part if len(found) < count else ():
                query = select(StoredObject).where(condition, StoredObject.id <= self.newest, self.which)
                query = query.where(StoredObject.slot == CURRENT, StoredObject.key.is_not(None))
                query = query.where(StoredObject.storage.not_in(failing))
                order = (StoredObject.read_at, StoredObject.stored_at) if len(part) > 1 else (StoredObject.since,)
                rows += session.scalars(query.order_by(*order, StoredObject.id).limit(count - len(found)))
            rows.sort(key=lambda row: (row.read_at or row.stored_at or row.since, row.id))
            found += rows[: count - len(found)]
        return found


class VerifyOptions(TypedDict, total=False):
    """The parameters of `verify`."""

    percent: float
    older_than: timedelta | None
    progress: Progress
    pace: Callable[[int], None] | None
    report: Callable[[Damage], None]
    by: By


@struct
class VerifyReport:
    """The numbers of checked blobs and bytes, and the damaged blobs."""

    checked: int
    size: int
    damaged: Sequence[Damage]

    def __add__(self, other: "VerifyReport") -> "VerifyReport":
        """Return both reports as one."""
        return VerifyReport(
            checked=self.checked + other.checked,
            size=self.size + other.size,
            damaged=[*self.damaged, *other.damaged],
        )


def log_damage(damage: Damage) -> None:
    """Log a damaged blob."""
    log.error("blob %s in %s is damaged: %s", damage.key, damage.storage, damage.problem)


def verify(database: Database, backends: Backends, **options: Unpack[VerifyOptions]) -> VerifyReport:
    """Check `percent` of the blobs, starting with those that were not checked for the longest time.

    `older_than` skips blobs that were checked within that time. A date in the future comes from a wrong clock: such
    blobs are checked first.

    `pace` is called with the number of bytes of each piece that was read, to limit the rate or to end the run. `by` is
    who verifies, for events.

    A damaged blob is marked, so that the next upload of the same content stores it again; the mark of a sound blob is
    removed. An unreadable blob is reported but not marked. `report` is called with each damage at once, by default to
    log it. If a storage is unavailable or not the one it was, the blobs of the others are checked, then its error is
    raised. The results are kept.

    Blobs that are known to be damaged are read whenever they were checked: their bytes may be right again.
    """
    return _verify(database, backends, ~is_second(backends), FIRST_SIDE, **options)


def verify_copies(
    database: Database, backends: Backends, storages: Sequence[str], **options: Unpack[VerifyOptions]
) -> VerifyReport:
    """Check the second copies in these storages in the same way: as they are stored, and without their bases.

    One that is wrong or missing is made again by the job `mirror`.
    """

    def check(storage: str) -> VerifyReport:
        which = and_(is_second(backends), StoredObject.storage == storage)
        return _verify(database, backends, which, storage, **options)

    return sum(map(check, storages), start=VerifyReport(checked=0, size=0, damaged=()))


def _verify(
    database: Database,
    backends: Backends,
    which: ColumnElement[bool],
    side: str,
    *,
    percent: float = 100,
    older_than: timedelta | None = None,
    progress: Progress = no_progress,
    pace: Callable[[int], None] | None = None,
    report: Callable[[Damage], None] = log_damage,
    by: By = None,
) -> VerifyReport:
    started = utc_now()
    cutoff = started - older_than if older_than is not None else started
    queue = Queue(newest=_newest(database), cutoff=cutoff, started=started, which=which)
    failures: dict[str, StorageError] = {}
    reader = BlobReader(database, backends, pace, by)
    total = ceil(count_objects(database, queue.is_due()) * percent / 100)
    checked, size, damaged = 0, 0, list[Damage]()
    for row in _longest_unverified_first(database, queue, total, failures):
        if row.storage in failures:
            continue
        try:
            is_current, damage = reader.read(row)
        except StorageError as error:
            log.error("the blobs of the storage %s are not verified: %s", row.storage, error.message)
            failures[row.storage] = error
            continue
        if not is_current:
            continue
        if damage:
            report(damage)  # at once, in case the run is killed
            damaged.append(damage)
        checked += 1
        size += row.size
        progress(done=checked, total=total, size=row.size)
    for failure in failures.values():
        raise failure
    if percent == 100:
        note_full_check(database, side, started)
    return VerifyReport(checked=checked, size=size, damaged=damaged)


def _newest(database: Database) -> int:
    with database.reading() as session:
        return session.scalar(select(func.max(StoredObject.id))) or 0


def _longest_unverified_first(
    database: Database, queue: Queue, total: int, failing: Collection[str]
) -> Iterator[StoredObject]:
    """Yield `total` blobs, a page at a time, but none of the storages that are `failing` meanwhile.

    A checked blob leaves the queue, except one whose result was not recorded. Those are counted and skipped.
    """
    seen: set[int] = set()
    stuck = 0
    while len(seen) < total:
        with database.reading() as session:
            found = queue.next(session, failing, min(PAGE, total - len(seen)) + stuck)
        rows = [row for row in found if row.id not in seen]
        if not rows and len(found) <= stuck:
            return
        stuck = len(found) - len(rows)
        seen.update(row.id for row in rows)
        yield from rows
