"""Rotation: which versions of a collection are deleted so that a new one fits, and when the new one is refused."""

from collections.abc import Sequence
from typing import overload

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import Blob, File, Version
from frepo_core.errors import (
    CollectionFullError,
    RuleError,
    TooManyVersionsError,
    VersionTooBigError,
    VersionTooYoungError,
)
from frepo_core.plugins import CollectionFull, CollectionState, IncomingVersion, PluginRegistry, VersionInfo

from ..records import CollectionRecord
from .strategy_answers import call_strategy

PAGE = 100


def make_room(
    session: Session,
    plugins: PluginRegistry,
    collection: CollectionRecord,
    incoming: IncomingVersion,
    *,
    violation: RuleError | None = None,
    is_final: bool = True,
) -> Sequence[VersionInfo]:
    """Return the versions to delete so that the incoming one fits. Deletes nothing itself.

    `violation` is what `find_violated_guard` returned for the content. A suspicious version is refused if the
    collection's guards say so, and in any case if an older version would be deleted for it.
    `is_final` is False for the check before the content is read: only a refusal matters then.

    Raises `RuleError` if the version is refused, and `PluginError` if the strategy fails or its answer breaks a limit.
    """
    check_size_limits(collection, incoming.size)
    if violation and collection.guards.action == "refuse":
        raise violation
    state = CollectionState(
        max_versions=collection.limits.count,
        max_size=collection.limits.total,
        stored_size=collection.stored_size,
        versions=LazyVersions(session, collection),
    )
    try:
        evicted = call_strategy(plugins, collection.strategy, state, incoming, is_final=is_final)
    except CollectionFull:
        raise _collection_full(collection) from None
    if evicted and violation:
        raise violation
    if any(collection.guards.protects(version.created_at, now=incoming.created_at) for version in evicted):
        raise VersionTooYoungError()
    return evicted


def find_violated_guard(session: Session, collection: CollectionRecord, size: int) -> RuleError | None:
    """Return the error of the guard that a content of `size` bytes violates, or None.

    The size is compared with that of the newest version that violated no guard.
    """
    guards = collection.guards
    if not (guards.min_version_size or guards.max_shrink_percent):
        return None
    query = select(Blob.size).join(File, File.blob_id == Blob.id).join(Version, Version.file_id == File.id)
    trusted = query.where(Version.collection_id == collection.id, Version.is_suspicious.is_not(True))
    return guards.find_violation(size, session.scalar(trusted.order_by(Version.number.desc()).limit(1)))


def check_size_limits(collection: CollectionRecord, size: int) -> None:
    """Raise `RuleError` if a version of `size` bytes would not fit even into the empty collection."""
    if collection.limits.one and size > collection.limits.one:
        raise VersionTooBigError()
    if collection.limits.total and size > collection.limits.total:
        raise CollectionFullError()


def _collection_full(collection: CollectionRecord) -> RuleError:
    if collection.limits.count and collection.versions_count >= collection.limits.count:
        return TooManyVersionsError(context={"max": collection.limits.count})
    return CollectionFullError()


class LazyVersions(Sequence[VersionInfo]):
    """The versions of a collection in ascending order, loaded by the page when an index is accessed."""

    def __init__(self, session: Session, collection: CollectionRecord) -> None:
        self._session = session
        self._collection = collection
        self._loaded: list[VersionInfo] = []

    def __len__(self) -> int:
        return self._collection.versions_count

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
        after = self._loaded[-1].number if self._loaded else 0
        rows = self._session.execute(
            select(Version.id, Version.number, Version.created_at, Blob.size)
            .join(File, File.id == Version.file_id)
            .join(Blob, Blob.id == File.blob_id)
            .where(Version.collection_id == self._collection.id, Version.number > after)
            .order_by(Version.number)
            .limit(PAGE)
        ).all()
        self._loaded += [
            VersionInfo(id=row.id, number=row.number, size=row.size, created_at=row.created_at) for row in rows
        ]
        return bool(rows)
