"""Reads a collection as its strategy sees it: with the versions that it may evict.

A strategy never sees pinned versions, those restored lately, pending ones and those in quarantine. While the incoming
version is not good, it does not see the newest good one either.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Content, File, Version
from frepo_core.domain.backups.locks import is_locked
from frepo_core.domain.structs import struct
from frepo_core.plugins import VersionInfo
from frepo_core.plugins.registry import PluginRegistry

from ...base.records import CollectionRecord
from ..rows.quarantine import is_overtaken
from ..rows.verdicts import BAD, find_newest_good
from ..rows.version_rows import is_restored
from .decision import FoundVersions, RotationState
from .strategy_options import load_options

PAGE = 100
# Built once: an upload of a version asks for it several times.
_IS_COUNTED = Version.is_counted


# Opens a session for reading, such as `Database.reading`.
Reading: TypeAlias = Callable[[], AbstractContextManager[Session]]


def read_state(
    session: Session,
    plugins: PluginRegistry,
    collection: CollectionRecord,
    *,
    now: datetime,
    reading: Reading | None = None,
    spares_good: bool = False,
    version_id: str = "",
) -> RotationState:
    """Return the state of a collection. Its versions are loaded when they are accessed, from the session or `reading`.

    `now` decides which versions are younger than the minimal retention. `spares_good` hides the newest good version,
    for an incoming one that is not good. `version_id` is that of the incoming one if it is in the collection already.
    """
    hidden = count_hidden(session, collection, now)
    spared = _find_spared(session, collection, now) if spares_good and collection.hold is None else None
    versions = LazyVersions(
        reading or (lambda: nullcontext(session)),
        collection,
        now=now,
        count=collection.versions_count - hidden.count - (spared is not None),
        spared=spared.id if spared else None,
    )
    return RotationState(
        limits=collection.limits,
        strategy=collection.strategy,
        acts_only_when_full=_acts_only_when_full(plugins, collection.strategy),
        versions=versions,
        stored_size=collection.stored_size - hidden.size - (spared.file.blob.size if spared else 0),
        pinned_count=hidden.count,
        pinned_size=hidden.size,
        options=load_options(plugins, collection),
        collection_id=collection.id,
        spared=spared.id if spared else None,
        find_bad=versions.find_bad,
        overtaken=_find_overtaken(session, collection, now, version_id) if collection.quarantined_count else (),
        apart_size=0 if version_id else collection.quarantined_size + collection.pending_size,
        record=collection,
    )


def _acts_only_when_full(plugins: PluginRegistry, strategy: str) -> bool:
    spec = plugins.strategies.get(strategy)
    return spec is not None and spec.acts_only_when_full


def _find_overtaken(
    session: Session, collection: CollectionRecord, now: datetime, version_id: str
) -> Sequence[VersionInfo]:
    found = LazyVersions(lambda: nullcontext(session), collection, now=now, count=0, spared=version_id)
    return found.find_overtaken()


def _find_spared(session: Session, collection: CollectionRecord, now: datetime) -> Version | None:
    """Return the newest good version if strategies see it; None if it is hidden from them anyway, or there is none."""
    newest = find_newest_good(session, collection.id)
    if newest is None or newest.pinned or not newest.is_counted:
        return None
    return None if newest.protected_until is not None and newest.protected_until > now else newest


@struct
class Hidden:
    """The number and the size of the versions that strategies do not see: pinned ones, and those restored lately."""

    count: int
    size: int


def count_hidden(session: Session, collection: CollectionRecord, now: datetime) -> Hidden:
    """Count the versions that reduce the limits of the strategy."""
    count, size = collection.pinned_count, collection.pinned_size
    if collection.restored_until is not None and collection.restored_until > now:
        query = select(func.count(), func.coalesce(func.sum(Content.size), 0)).select_from(Version)
        query = query.join(File, File.id == Version.file_id).join(Content, Content.id == File.content_id)
        restored = is_restored(now) & Version.pinned.is_(False) & _IS_COUNTED
        found = session.execute(query.where(Version.collection_id == collection.id, restored)).one()
        count, size = count + found[0], size + int(found[1])
    return Hidden(count=count, size=size)


class LazyVersions(FoundVersions):
    """The versions of a collection that strategies see, in ascending order, loaded by page on access.

    `is_loading` is whether a page is loaded now.
    """

    def __init__(
        self, reading: Reading, collection: CollectionRecord, *, now: datetime, count: int, spared: str | None = None
    ) -> None:
        """Each page is loaded in a session of `reading`. `spared` is the id of a version that is left out."""
        super().__init__(count)
        self._spared = spared or ""
        self._now = now
        self._reading = reading
        self._collection = collection
        self.is_loading = False

    def _find_more(self) -> bool:
        self.is_loading = True
        try:
            with self._reading() as session:
                found = self._find_page(session)
        finally:
            self.is_loading = False
        self._found += found
        return bool(found)

    def find_bad(self) -> Sequence[VersionInfo]:
        """Return the versions that were found broken or suspicious, in ascending order."""
        if len(self._found) == self._count:
            return [version for version in self._found if version.is_bad]
        with self._reading() as session:
            return self._infos(session.execute(self._select().where(Version.verdict.in_(BAD))))

    def find_overtaken(self) -> Sequence[VersionInfo]:
        """Return the whole versions in quarantine that newer ones have overtaken, in ascending order."""
        with self._reading() as session:
            return self._infos(session.execute(self._select(is_overtaken())))

    def _find_page(self, session: Session) -> list[VersionInfo]:
        after = self._found[-1].number if self._found else 0
        return self._infos(session.execute(self._select().where(Version.number > after).limit(PAGE)))

    def _select(self, condition: Any = _IS_COUNTED) -> Any:
        return (
            select(Version.id, Version.number, Version.created_at, Version.verdict, Version.locked_until, Content.size)
            .join(File, File.id == Version.file_id)
            .join(Content, Content.id == File.content_id)
            .where(Version.collection_id == self._collection.id)
            .where(Version.pinned.is_(False), condition, ~is_restored(self._now))
            .where(Version.id != self._spared)
            .order_by(Version.number)
        )

    def _infos(self, rows: Iterable[Row[Any]]) -> list[VersionInfo]:
        return [
            VersionInfo(
                id=row.id,
                number=row.number,
                size=row.size,
                created_at=row.created_at,
                protected=self._collection.guards.protects(row.created_at, now=self._now)
                or (row.locked_until is not None and is_locked(row.locked_until, [self._now])),
                locked_until=row.locked_until,
                is_bad=row.verdict in BAD,
            )
            for row in rows
        ]
