"""The strategy `delete_oldest_when_adding_new`: the rotation for nightly dumps."""

from collections.abc import Sequence

from frepo_core.plugins import CollectionFull, CollectionState, CollectionStrategy, IncomingVersion, VersionInfo


class DeleteOldestWhenAddingNew(CollectionStrategy):
    """Deletes the oldest versions until the new one fits. After a limit was lowered, these may be many."""

    def make_room(self, collection: CollectionState, incoming: IncomingVersion) -> Sequence[VersionInfo]:
        """Return the smallest number of oldest versions; raise `CollectionFull` if the new one could never fit."""
        if collection.max_size and incoming.size > collection.max_size:
            raise CollectionFull("The version is larger than the maximum size of the whole collection")
        excess_count = len(collection.versions) + 1 - collection.max_versions if collection.max_versions else 0
        excess_size = collection.stored_size + incoming.size - collection.max_size if collection.max_size else 0
        evicted: list[VersionInfo] = []
        for version in collection.versions:
            if excess_count <= 0 and excess_size <= 0:
                break
            evicted.append(version)
            excess_count -= 1
            excess_size -= version.size
        return evicted
