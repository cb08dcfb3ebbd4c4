"""Records: the frozen dataclasses that services return instead of database rows."""

from .collection_record import CollectionRecord, collection_info, plugin_guards
from .file_records import WITH_BLOB, BlobRecord, FileRecord, TrashedFile
from .version_record import VersionRecord

__all__ = [
    "WITH_BLOB",
    "BlobRecord",
    "CollectionRecord",
    "FileRecord",
    "TrashedFile",
    "VersionRecord",
    "collection_info",
    "plugin_guards",
]
