"""The services for what can be restored."""

from dataclasses import dataclass

from ..trash.deleted_collections import DeletedCollections
from ..trash.free_space import TrashSpace
from ..trash.storage_space import StorageSpace
from ..trash.trash import Trash
from .file_services import FileServices
from .foundation import Foundation


@dataclass(frozen=True, kw_only=True)
class TrashServices:
    """The services for what can be restored."""

    trash: Trash
    trash_space: TrashSpace
    deleted_collections: DeletedCollections


def build_trash(base: Foundation, files: FileServices) -> TrashServices:
    """Build the services of this theme. The trash gives way to uploads from now on."""
    settings = base.settings
    space = TrashSpace(base.database, files.blobs, StorageSpace(base.backends, settings), settings.temp_directory)
    files.blobs.on_full = space.make_room
    return TrashServices(
        trash=Trash(base.database, files.blobs, settings.trash_keep),
        trash_space=space,
        deleted_collections=DeletedCollections(base.database, files.blobs),
    )
