"""The strategy `keep_daily`: many versions on one day do not evict the versions of other days."""

from collections.abc import Sequence

from frepo_core.plugins import CollectionFull, CollectionState, CollectionStrategy, IncomingVersion, VersionInfo


class KeepDaily(CollectionStrategy):
    """Evicts first the versions that are not the newest of their day (UTC), then whole days; the oldest first.

    A collection of at most 30 versions keeps the newest version of each of the last 30 days that have one, even if
    there are many uploads on a day. It reads all versions of a full collection.
    """

    def make_room(self, collection: CollectionState, incoming: IncomingVersion) -> Sequence[VersionInfo]:
        """Choose the fewest versions that make the new one fit. Refuse a version that can never fit."""
        if collection.has_room(incoming):
            return ()
        if collection.max_size and incoming.size > collection.max_size:
            raise CollectionFull("The version is larger than the limit of the collection")
        newest = {version.created_at.date(): version.number for version in collection.versions}
        newest[incoming.created_at.date()] = 0
        order = sorted(
            collection.versions,
            key=lambda version: (version.protected, newest[version.created_at.date()] == version.number),
        )
        excess_count = len(order) + 1 - collection.max_versions if collection.max_versions else 0
        excess_size = collection.stored_size + incoming.size - collection.max_size if collection.max_size else 0
        evicted: list[VersionInfo] = []
        for version in order:
            if len(evicted) >= excess_count and excess_size <= 0:
                break
            evicted.append(version)
            excess_size -= version.size
        return evicted
