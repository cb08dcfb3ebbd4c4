"""The services for what can be restored."""

from dataclasses import dataclass

from ..backups.trash.arrivals import Arrivals
from ..backups.trash.deleted_collections import DeletedCollections
from ..backups.trash.early_ending import EarlyEnding
from ..backups.trash.room_leases import RoomLeases
from ..backups.trash.trash import Trash
from ..content.storages.storage_space import StorageSpace
from ..foundation import Foundation
from .file_services import FileServices


@dataclass(frozen=True, kw_only=True)
class TrashServices:
    """The services for what can be restored."""

    trash: Trash
    early_ending: EarlyEnding
    arrivals: Arrivals
    deleted_collections: DeletedCollections


def build_trash(base: Foundation, files: FileServices) -> TrashServices:
    """Build the services of this theme. Plain files leave as much free as the trash requires from now on."""
    settings = base.settings
    space = StorageSpace(base.backends, base.presence, settings)
    early_ending = EarlyEnding(base.database, files.blobs, space, files.ingest.held)
    arrivals = Arrivals(early_ending, space, RoomLeases(base.database))
    files.blobs.room_of_files = arrivals
    return TrashServices(
        trash=Trash(base.database, files.blobs, settings.trash_keep),
        early_ending=early_ending,
        arrivals=arrivals,
        deleted_collections=DeletedCollections(base.database, files.blobs),
    )
