"""Reads from the database what the decision about an incoming version depends on."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias, overload

from sqlalchemy import ColumnElement, false, func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Blob, File, Version
from frepo_core.domain.backups.guards import Objection
from frepo_core.plugins import VersionInfo
from frepo_core.plugins.registry import PluginRegistry

from ...base.records import CollectionRecord
from .decision import RotationState
from .newest_size import find_newest_size
from .strategy_options import load_options

PAGE = 100


# Opens a session for reading, such as `Database.reading`.
Reading: TypeAlias = Callable[[], AbstractContextManager[Session]]


def read_state(
    session: Session,
    plugins: PluginRegistry,
    collection: CollectionRecord,
    *,
    now: datetime,
    reading: Reading | None = None,
) -> RotationState:
    """Return the state of a collection. Its versions are loaded when they are accessed, from the session or `reading`.

    `now` decides which versions are younger than the minimal retention.
    """
    hidden = count_hidden(session, collection, now)
    return RotationState(
        limits=collection.limits,
        strategy=collection.strategy,
        versions=LazyVersions(
            reading or (lambda: nullcontext(session)),
            collection,
            now=now,
            count=collection.versions_count - hidden.count,
        ),
        stored_size=collection.stored_size - hidden.size,
        pinned_count=hidden.count,
        pinned_size=hidden.size,
        options=load_options(plugins, collection),
        collection_id=collection.id,
    )


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """The number and the size of the versions that strategies do not see: pinned ones, and those restored lately."""

    count: int
    size: int


def is_restored(now: datetime) -> ColumnElement[bool]:
    """Return the condition that a version was restored from the trash lately, and is treated as a pinned one for that.

    If it were only protected, as young versions are, uploads would be refused that must evict it.
    """
    return func.coalesce(Version.protected_until > now, false())


def count_hidden(session: Session, collection: CollectionRecord, now: datetime) -> Hidden:
    """Count the versions that reduce the limits of the strategy."""
    count, size = collection.pinned_count, collection.pinned_size
    if collection.restored_until is not None and collection.restored_until > now:
        query = select(func.count(), func.coalesce(func.sum(Blob.size), 0)).select_from(Version)
        query = query.join(File, File.id == Version.file_id).join(Blob, Blob.id == File.blob_id)
        restored = is_restored(now) & Version.pinned.is_(False) & ~Version.is_quarantined
        found = session.execute(query.where(Version.collection_id == collection.id, restored)).one()
        count, size = count + found[0], size + int(found[1])
    return Hidden(count=count, size=size)


def find_objection(session: Session, collection: CollectionRecord, size: int) -> Objection | None:
    """Return the objection of the guard that a content of `size` bytes violates, or None.

    The size is compared with that of the newest version that is not suspicious.
    """
    guards = collection.guards
    if not (guards.min_version_size or guards.max_shrink_percent):
        return None
    trusted = find_newest_size(session, collection.id, Version.is_suspicious.is_not(True))
    error = guards.find_violation(size, trusted)
    return Objection(error=error, action=guards.action) if error else None


class LazyVersions(Sequence[VersionInfo]):
    """The versions of a collection that strategies see, in ascending order, loaded by page on access.

    `is_loading` is whether a page is loaded now.
    """

    def __init__(self, reading: Reading, collection: CollectionRecord, *, now: datetime, count: int) -> None:
        """Each page is loaded in a session of `reading`."""
        self._now = now
        self._count = count
        self._reading = reading
        self._collection = collection
        self._loaded: list[VersionInfo] = []
        self.is_loading = False

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> VersionInfo: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[VersionInfo]: ...

    def __getitem__(self, index: int | slice) -> VersionInfo | Sequence[VersionInfo]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        while len(self._loaded) <= position and self._load_page():
            pass
        return self._loaded[position]

    def _load_page(self) -> bool:
        self.is_loading = True
        try:
            with self._reading() as session:
                found = self._find_page(session)
        finally:
            self.is_loading = False
        self._loaded += found
        return bool(found)

    def _find_page(self, session: Session) -> list[VersionInfo]:
        after = self._loaded[-1].number if self._loaded else 0
        rows = session.execute(
            select(Version.id, Version.number, Version.created_at, Blob.size)
            .join(File, File.id == Version.file_id)
            .join(Blob, Blob.id == File.blob_id)
            .where(Version.collection_id == self._collection.id, Version.number > after)
            .where(Version.pinned.is_(False), ~Version.is_quarantined, ~is_restored(self._now))
            .order_by(Version.number)
            .limit(PAGE)
        ).all()
        return [
            VersionInfo(
                id=row.id,
                number=row.number,
                size=row.size,
                created_at=row.created_at,
                protected=self._collection.guards.protects(row.created_at, now=self._now),
            )
            for row in rows
        ]
