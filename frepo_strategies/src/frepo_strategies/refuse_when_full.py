"""`alert_when_backup_limit_reached`: a full collection asks for a person."""

from collections.abc import Sequence

from frepo_core.plugins import CollectionFull, CollectionState, CollectionStrategy, IncomingVersion, VersionInfo


class AlertWhenBackupLimitReached(CollectionStrategy):
    """Never lets a version go: the upload is refused until somebody makes room."""

    def make_room(self, collection: CollectionState, incoming: IncomingVersion) -> Sequence[VersionInfo]:
        """Return nothing where there is room, refuse otherwise."""
        if not collection.has_room(incoming):
            raise CollectionFull("The collection is full, and its strategy removes nothing")
        return ()
