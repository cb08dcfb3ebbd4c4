"""The storages: which are installed, which one gets new blobs, and whether they work."""

from dataclasses import dataclass

from frepo_core.db import Database
from frepo_core.plugins.registry import PluginRegistry

from ...content.storages.backends import Backends
from ...content.storages.storage_space import find_free_space
from ...content.storages.storage_troubles import StorageTrouble, read_troubles
from .damage import count_damaged_by_storage


@dataclass(frozen=True, kw_only=True)
class StorageRecord:
    """A storage. `is_current`: new blobs are stored there. `damaged` is the number of its damaged blobs.

    `trouble` is what is known to be wrong with it. `free_space` (bytes) is None if the storage cannot tell, does not
    answer, or is not in use. `package` is None if no installed package provides the storage.
    """

    name: str
    package: str | None
    summary: str
    is_current: bool
    trouble: StorageTrouble | None
    free_space: int | None
    damaged: int


def list_storages(database: Database, backends: Backends, plugins: PluginRegistry) -> list[StorageRecord]:
    """Return the installed storages, and those that are not installed any more and are known to fail, by name."""
    with database.reading() as session:
        damaged, troubles = count_damaged_by_storage(session), read_troubles(session)
    packages = {spec.name: plugin.distribution for plugin in plugins.found for spec in plugin.storages}
    return [
        StorageRecord(
            name=name,
            package=packages.get(name),
            summary=plugins.storages[name].summary if name in plugins.storages else "",
            is_current=name == backends.current,
            trouble=troubles.get(name),
            free_space=find_free_space(backends, name) if name in backends.in_use else None,
            damaged=damaged.get(name, 0),
        )
        for name in sorted({*packages, *troubles, *damaged})
    ]
