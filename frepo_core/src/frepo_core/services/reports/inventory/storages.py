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
    """A storage. `is_current`: it is the first one. `is_configured`: new blobs may be stored there.

    `damaged` is the number of its damaged blobs. `trouble` is what is known to be wrong with it. `free_space` (bytes)
    is None if the storage cannot tell, does not answer, or is not in use. `package` is None if no installed package
    provides the storage.
    """

    name: str
    package: str | None
    summary: str
    adapter: str
    is_current: bool
    is_configured: bool
    trouble: StorageTrouble | None
    free_space: int | None
    damaged: int


def list_storages(database: Database, backends: Backends, plugins: PluginRegistry) -> list[StorageRecord]:
    """Return the storages by name: the named ones, one for each adapter, and others that are known to fail."""
    with database.reading() as session:
        damaged, troubles = count_damaged_by_storage(session), read_troubles(session)
    packages = {spec.name: plugin.distribution for plugin in plugins.found for spec in plugin.storages}
    summaries = {name: spec.summary for name, spec in plugins.storages.items()}
    return [
        StorageRecord(
            name=name,
            package=packages.get(backends.adapter(name)),
            adapter=backends.adapter(name),
            summary=summaries.get(backends.adapter(name), ""),
            is_current=name == backends.current,
            is_configured=name in backends.configured,
            trouble=troubles.get(name),
            free_space=find_free_space(backends, name) if name in backends.in_use else None,
            damaged=damaged.get(name, 0),
        )
        for name in sorted({*packages, *backends.named, *troubles, *damaged})
    ]
