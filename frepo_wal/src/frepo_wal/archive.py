"""One archive: the files of the WAL of one cluster, which are versions of a collection."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from frepo_core.plugins import (
    CollectionInfo,
    EndpointError,
    ListPage,
    PluginContext,
    StoreConflictError,
    StoredVersion,
)

from .strategy import NAME, WalOptions

LABEL, SYSTEM, PARENT, SWITCH = "wal", "system", "parent", "switch"
# What the client says: how many segments waited, and when PostgreSQL wrote the last byte of this one.
WAITING, WRITTEN = "waiting", "written"
PAGE = 1000


@dataclass(frozen=True, kw_only=True)
class Archive:
    """The archive in a collection with the strategy `wal`."""

    context: PluginContext
    collection: CollectionInfo

    @property
    def options(self) -> WalOptions:
        """The options of the collection; the defaults if stored ones do not fit."""
        known = {
            name: value for name, value in self.collection.strategy_options.items() if name in WalOptions.model_fields
        }
        return WalOptions.model_validate(known)

    def find(self, name: str) -> StoredVersion | None:
        """Return the version that has a file; the first one if there were two for a moment."""
        page: ListPage[StoredVersion] = self.context.service.versions(self.collection.id, label=(LABEL, name), limit=10)
        return min(page.items, key=lambda one: one.number, default=None)

    def versions(self) -> Iterator[StoredVersion]:
        """Yield all versions, the newest first."""
        after = None
        while True:
            page = self.context.service.versions(self.collection.id, after=after, limit=PAGE)
            yield from page.items
            if (after := page.next) is None:
                return

    def check_system(self, system: str) -> None:
        """Compare the identifier of a cluster with the one that is known, if it is. Raises `EndpointError`."""
        self._require_same(system, self._known_system())

    def remember_system(self, system: str) -> None:
        """Remember the identifier of the cluster of a stored segment. Raises `EndpointError` if another was first.

        Not before: one that was changed on the way, and is refused, would shut the archive for the right cluster.
        """
        self._require_same(system, self._known_system() or self._remember(system))

    def _require_same(self, system: str, known: str) -> None:
        if known not in {"", system}:
            raise EndpointError(
                409,
                f"This segment is of another cluster: its system identifier is {system}, and that of this archive is "
                f"{known}. Give each cluster a collection of its own",
            )

    def _remember(self, system: str) -> str:
        store = self.context.service.store
        try:
            store.put(self._key, system, if_version=0)
        except StoreConflictError:  # another segment was the first one
            found = store.get(self._key)
            return str(found.value) if found else system
        return system

    def _known_system(self) -> str:
        """Return the identifier. After a recovery the label of the newest segment has it."""
        if found := self.context.service.store.get(self._key):
            return str(found.value)
        newest = self.context.service.versions(self.collection.id, limit=100).items
        known = next((one.labels[SYSTEM] for one in newest if SYSTEM in one.labels), "")
        return self._remember(known) if known else ""

    @property
    def _key(self) -> str:
        return f"system/{self.collection.id}"


def find_archive(context: PluginContext, collection_id: str) -> Archive:
    """Return the archive in a collection. Raises `EndpointError` if it has another strategy."""
    collection = context.service.collection(collection_id)
    if collection is None or collection.strategy != NAME:
        raise EndpointError(409, "This collection is no archive of WAL: create one with the strategy wal")
    return Archive(context=context, collection=collection)


def all_archives(context: PluginContext) -> Iterator[tuple[Archive, Any]]:
    """Yield each archive, and the `CollectionUsage` of its collection."""
    after = None
    while True:
        page = context.service.collections(strategy=NAME, after=after)
        for usage in page.items:
            if collection := context.service.collection(usage.id):
                yield Archive(context=context, collection=collection), usage
        if (after := page.next) is None:
            return
