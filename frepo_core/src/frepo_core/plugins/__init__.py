"""The API for authors of plug-ins: the hook marker, contracts, settings, helpers and errors."""

from frepo_core.errors import BlobNotFound, ConfigurationError, StorageError, StorageFull, StorageUnavailable

from .hookspecs import hookimpl
from .registry import PluginRegistry
from .settings import PluginSettings
from .storage import BlobStat, StorageBackend, StorageSettings, StorageSpec
from .storage_helpers import (
    PARTIAL,
    ExactReader,
    Window,
    exactly,
    is_blob_key,
    is_key,
    is_partial_path,
    partial_name,
)
from .strategy import CollectionFull, CollectionState, CollectionStrategy, IncomingVersion, StrategySpec, VersionInfo

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
