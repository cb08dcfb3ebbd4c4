"""`delete_oldest_when_adding_new`: the rotation that nightly dumps want."""

from collections.abc import Sequence

from frepo_core.plugins import CollectionFull, CollectionState, CollectionStrategy, IncomingVersion, VersionInfo


class DeleteOldestWhenAddingNew(CollectionStrategy):
    """Lets the oldest versions go until the new one fits, however many that takes after a limit was lowered."""

    def make_room(self, collection: CollectionState, incoming: IncomingVersion) -> Sequence[VersionInfo]:
        """Choose the fewest oldest versions; refuse what would not fit into the empty collection either."""
        if collection.max_size and incoming.size > collection.max_size:
            raise CollectionFull("The version is larger than the whole collection may be")
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
