"""Rotation: which versions of a collection are deleted so that a new one fits, and when the new one is refused."""

from collections.abc import Sequence
from datetime import datetime
from typing import overload

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import Blob, File, Version
from frepo_core.errors import (
    CollectionFullError,
    PluginError,
    RuleError,
    TooManyVersionsError,
    VersionTooBigError,
    VersionTooYoungError,
)
from frepo_core.plugins import CollectionFull, CollectionState, IncomingVersion, PluginRegistry, VersionInfo

from ..records import CollectionRecord
from .strategy_answers import call_strategy
from .strategy_options import load_options

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

    A strategy may also evict versions when there is room. Such an eviction is optional: it is left out for a version
    that is younger than the minimal retention, and if the incoming version is suspicious.

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
        versions=LazyVersions(session, collection, now=incoming.created_at),
        options=load_options(plugins, collection),
    )
    try:
        evicted = call_strategy(plugins, collection.strategy, state, incoming, is_final=is_final)
    except CollectionFull:
        raise _collection_full(collection) from None
    if violation:
        if not state.has_room(incoming):
            raise violation
        return ()
    allowed = [version for version in evicted if not version.protected]
    if len(allowed) < len(evicted) and not state.has_room(incoming, without=allowed):
        raise VersionTooYoungError()
    if is_final:
        _check_leaves_one(allowed, state, incoming, plugins.strategy_origin(collection.strategy))
    return allowed


def _check_leaves_one(
    evicted: Sequence[VersionInfo], state: CollectionState, incoming: IncomingVersion, origin: str
) -> None:
    """Raise `PluginError` if a strategy evicts every version although the new one fits beside the newest of them."""
    if not evicted or len(evicted) < len(state.versions):
        return
    newest = max(evicted, key=lambda version: version.number)
    if state.has_room(incoming, without=[version for version in evicted if version.id != newest.id]):
        raise PluginError(
            f"{origin} answered make_room() with all {len(evicted)} versions, although the new one fits beside the newest"
        )


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

    def __init__(self, session: Session, collection: CollectionRecord, *, now: datetime) -> None:
        self._now = now
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
            VersionInfo(
                id=row.id,
                number=row.number,
                size=row.size,
                created_at=row.created_at,
                protected=self._collection.guards.protects(row.created_at, now=self._now),
            )
            for row in rows
        ]
        return bool(rows)
