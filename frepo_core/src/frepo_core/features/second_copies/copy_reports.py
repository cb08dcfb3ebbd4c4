"""Reports about second copies: how far behind they are, and when both sides were checked."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, File, Installation, StoredObject, Version
from frepo_core.domain.durations import format_age
from frepo_core.domain.sizes import readable_size
from frepo_core.domain.structs import struct
from frepo_core.errors import MirrorLateError
from frepo_core.plugins import CopyStatus
from frepo_core.services.content.objects.decodable import MOST_LEVELS, is_decodable
from frepo_core.services.content.objects.states import CURRENT, LACKING, ObjectState
from frepo_core.services.content.storages.backends import NO_MIRROR, Backends
from frepo_core.services.content.storages.storage_troubles import read_troubles
from frepo_core.services.upkeep.full_checks import FIRST_SIDE, read_full_checks
from frepo_core.settings import Settings

from .gaps import is_compared, read_compared_at
from .lag import find_copy_storages, find_oldest

# No more rows are counted, so that a report costs the same however many copies are missing.
MOST = 100_000
# The same for what cannot be decoded.
MOST_UNDECODABLE = 1000


@struct
class CopyFigures:
    """The second copies in one storage. Times are UTC (aware), None for never.

    :param state: what is known to be wrong with the storage: `full` or `unavailable`, or None
    :param skipped: whether this process does not use it now, because it failed several times
    :param behind: the number of contents without a copy there that can be decoded, at most 100,000, and `size` their
        bytes
    :param oldest_at: since when the one that has waited longest waits, or None
    :param versions: the number of versions that have one copy only, of at most 100,000
    :param fallbacks: the number of reads of the whole service that were answered from another copy, because one failed
    :param checked_at: when all copies were checked the last time; `first_checked_at`: all contents in first storages
    :param damaged: how many of these had a copy that is wrong or missing now
    :param stopped: the number of copies that are not deleted, because they are too many at once, until somebody
        confirms it
    :param compared_at: when contents were compared with their copies the last time
    :param is_known: whether they were compared since a recovery or a change of mirrors; if not, more may be behind
    :param is_late: whether one has waited for longer than `mirror.max_lag`
    :param is_first: whether it is the first storage, which gets what a recovery has found in others
    """

    storage: str
    behind: int
    size: int
    oldest_at: datetime | None
    versions: int
    fallbacks: int
    checked_at: datetime | None
    first_checked_at: datetime | None
    is_late: bool
    is_known: bool = True
    damaged: int = 0
    stopped: int = 0
    compared_at: datetime | None = None
    state: str | None = None
    skipped: bool = False
    is_first: bool = False

    @property
    def _what(self) -> str:
        if self.is_first:  # as after a recovery from another one, and after a promotion
            place = f"in {self.storage}, which is the first storage now"
            return f"{'its' if self.behind <= 1 else 'their'} bytes {place}"
        return f"a second copy in {self.storage}"

    def status(self) -> CopyStatus:
        """Return the figures that plug-ins read."""
        return CopyStatus(
            storage=self.storage,
            behind=self.behind,
            size=self.size,
            oldest_at=self.oldest_at,
            is_late=self.is_late,
            versions_with_one_copy=self.versions,
            fallbacks=self.fallbacks,
            checked_at=self.checked_at,
            first_checked_at=self.first_checked_at,
            is_known=self.is_known,
        )

    def age(self, now: datetime) -> timedelta:
        """Return for how long the one that waits longest waits, 0 if none does."""
        return timedelta() if self.oldest_at is None else max(timedelta(), now - self.oldest_at)

    def describe(self, now: datetime) -> str:
        """Return the figures as a sentence for people."""
        unknown = f"Contents were not compared with their copies in {self.storage} yet: the job mirror does so"
        if not self.behind:
            return f"No content waits for {self._what}" if self.is_known else unknown
        waits = format_age(self.age(now))
        contents = "1 content waits" if self.behind == 1 else f"{self.behind} contents wait"
        return (
            f"{contents} for {self._what} ({readable_size(self.size)}), the oldest for {waits}; "
            f"versions with one copy: {self.versions}{'' if self.is_known else f'. {unknown}'}"
        )


class CopyReports:
    """Reads the figures about second copies."""

    def __init__(self, database: Database, backends: Backends, settings: Settings) -> None:
        self._database = database
        self._backends = backends
        self._settings = settings

    def read(self) -> Sequence[CopyFigures]:
        """Return the figures of each storage with second copies."""
        storages = find_copy_storages(self._database, self._backends)
        with self._database.reading() as session:
            troubles = read_troubles(session)
            return [
                replace(
                    _read(session, storage, self._settings.mirror_max_lag),
                    compared_at=read_compared_at(session, self._backends),
                    is_known=is_compared(session, self._backends),
                    state=troubles[storage].state if storage in troubles else None,
                    skipped=self._backends.breaker.skips(storage),
                    is_first=storage == self._backends.current,
                )
                for storage in storages
            ]

    def check(self) -> None:
        """Raise `MirrorLateError` if a content has waited for its second copy for longer than `mirror.max_lag`.

        Also if collections want their copies in a storage that is not configured any more.
        """
        now = utc_now()
        with self._database.reading() as session:
            wanted = _read_wanted(session)
        known = {NO_MIRROR, *self._backends.configured}
        if lost := {name: number for name, number in wanted.items() if name not in known}:
            names = ", ".join(f"{name!r} ({number})" for name, number in lost.items())
            raise MirrorLateError(
                f"Collections have their second copies in storages that are not configured any more: {names}. "
                "Configure them, or name others with `frepo backup:edit ID --mirror NAME`"
            )
        if late := [one.describe(now) for one in self.read() if one.is_late]:
            raise MirrorLateError(f"{'. '.join(late)}. `frepo jobs mirror` says why")


def _read_wanted(session: Session) -> Mapping[str, int]:
    """Return how many collections name each storage for their second copies. An index finds one after the other."""
    wanted, name = dict[str, int](), ""
    while following := session.scalar(select(func.min(Collection.mirror)).where(Collection.mirror > name)):
        name = following
        wanted[name] = session.scalar(select(func.count()).where(Collection.mirror == name)) or 0
    return wanted


def _read(session: Session, storage: str, max_lag: timedelta) -> CopyFigures:
    from .departures import stopped_name
    from .fallback_notes import COUNTER  # not each report reads contents

    behind = size = versions = damaged = 0
    for state in LACKING:  # one after the other: for several, SQLite reads the table
        of_state = (StoredObject.storage == storage, StoredObject.state == state.value, StoredObject.slot == CURRENT)
        rows = select(StoredObject.size).where(*of_state).limit(MOST - behind).subquery()
        count, added = session.execute(select(func.count(), func.sum(rows.c.size)).select_from(rows)).one()
        behind, size = behind + count, size + int(added or 0)
        damaged += count if state in {ObjectState.DAMAGED, ObjectState.MISSING} else 0
        versions += _count_versions(session, of_state, MOST - versions) if count else 0
    if affected := find_undecodable(session, storage) if damaged else ():
        behind, size = behind + len(affected), size + sum(row.size for row in affected)
        damaged += len(affected)
        ids = [row.content_id for row in affected]
        users = select(func.count(Version.id)).join(File, File.id == Version.file_id).where(File.content_id.in_(ids))
        versions += session.scalar(users) or 0
    stopped = session.get(Installation, stopped_name(storage))
    checks = read_full_checks(session)
    oldest = find_oldest(session, storage)
    fallbacks = session.scalars(
        select(Installation.value).where(Installation.name.startswith(COUNTER, autoescape=True))
    )
    return CopyFigures(
        storage=storage,
        behind=behind,
        size=size,
        oldest_at=oldest,
        versions=versions,
        fallbacks=sum(map(int, fallbacks)),
        checked_at=checks.get(storage),
        first_checked_at=checks.get(FIRST_SIDE),
        is_late=oldest is not None and utc_now() - oldest > max_lag,
        damaged=damaged,
        stopped=int(stopped.value) if stopped else 0,
    )


def _count_versions(session: Session, of_copies: Sequence[ColumnElement[bool]], most: int) -> int:
    # In the order of an index, so that SQLite uses it however rare the state is.
    copies = select(StoredObject.content_id).where(*of_copies).order_by(StoredObject.since).limit(most).subquery()
    versions = (
        select(Version.id)
        .join(File, File.id == Version.file_id)
        .join(copies, copies.c.content_id == File.content_id)
        .limit(most)
    )
    return session.scalar(select(func.count()).select_from(versions.subquery())) or 0


def find_undecodable(session: Session, storage: str) -> Sequence[StoredObject]:
    """Return the current objects of a storage that are present and not decodable there, at most 1,000.

    Two statements if nothing is damaged: then all that is present is decodable.
    """
    found, level = list[StoredObject](), set[str]()
    for state in (ObjectState.DAMAGED, ObjectState.MISSING):  # one after the other: for both, SQLite reads the table
        bad = (StoredObject.storage == storage, StoredObject.state == state.value, StoredObject.slot == CURRENT)
        level |= set(session.scalars(select(StoredObject.digest).where(*bad).limit(MOST_UNDECODABLE)))
    for _ in range(MOST_LEVELS):
        present = (StoredObject.storage == storage, StoredObject.state == ObjectState.PRESENT.value)
        needing = select(StoredObject).where(StoredObject.base_digest.in_(level), *present)
        rows = (
            session.scalars(needing.where(StoredObject.slot == CURRENT).limit(MOST_UNDECODABLE)).all() if level else ()
        )
        rows = [row for row in rows if not is_decodable(session, row.digest, storage)]
        found, level = [*found, *rows], {row.digest for row in rows}
        if not rows or len(found) >= MOST_UNDECODABLE:
            break
    return found[:MOST_UNDECODABLE]
