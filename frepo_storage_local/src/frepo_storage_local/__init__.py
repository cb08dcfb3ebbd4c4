"""frepo's storage `local`: blobs are files below one directory."""

from frepo_core.plugins import StorageSpec, hookimpl

from .backend import LocalStorage
from .settings import LocalSettings

__all__ = ["LocalSettings", "LocalStorage", "frepo_storages"]


@hookimpl
def frepo_storages() -> list[StorageSpec]:
    """Register the storage `local`."""
    return [StorageSpec(name="local", settings=LocalSettings, build=LocalStorage, summary="files below a directory")]
