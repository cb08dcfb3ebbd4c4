"""The strategy `alert_when_backup_limit_reached`: a full collection refuses new versions."""

from collections.abc import Sequence

from frepo_core.plugins import CollectionFull, CollectionState, CollectionStrategy, IncomingVersion, VersionInfo


class AlertWhenBackupLimitReached(CollectionStrategy):
    """Never deletes a version. Uploads are refused until a client deletes versions or raises the limits."""

    def make_room(self, collection: CollectionState, incoming: IncomingVersion) -> Sequence[VersionInfo]:
        """Return no versions if the new one fits; raise `CollectionFull` otherwise."""
        if not collection.has_room(incoming):
            raise CollectionFull("The collection is full, and its strategy deletes no versions")
        return ()
