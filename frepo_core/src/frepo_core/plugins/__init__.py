"""All that a plug-in author imports: the hook marker, the contracts, their facts, their settings and their errors."""

from frepo_core.errors import BlobNotFound, ConfigurationError, StorageError, StorageFull, StorageUnavailable

from .hookspecs import hookimpl
from .registry import PluginRegistry
from .settings import PluginSettings
from .storage import BlobStat, StorageBackend, StorageSettings, StorageSpec
from .storage_helpers import PARTIAL, ExactReader, exactly, is_blob_key, is_key, is_partial_path, partial_name
from .strategy import CollectionFull, CollectionState, CollectionStrategy, IncomingVersion, StrategySpec, VersionInfo
from .window import Window

__all__ = [
    "PARTIAL",
    "BlobNotFound",
    "BlobStat",
    "CollectionFull",
    "CollectionState",
    "CollectionStrategy",
    "ConfigurationError",
    "ExactReader",
    "IncomingVersion",
    "PluginRegistry",
    "PluginSettings",
    "StorageBackend",
    "StorageError",
    "StorageFull",
    "StorageSettings",
    "StorageSpec",
    "StorageUnavailable",
    "StrategySpec",
    "VersionInfo",
    "Window",
    "exactly",
    "hookimpl",
    "is_blob_key",
    "is_key",
    "is_partial_path",
    "partial_name",
]
