"""The storages: which are installed, which one gets new blobs, and whether they work."""

from collections import Counter

from sqlalchemy import func, select

from frepo_core.db import Database
from frepo_core.db.models import OBJECT_SIZE, Collection, StoredObject
from frepo_core.domain.structs import struct
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.content.objects.states import CURRENT
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.content.storages.storage_space import find_free_space
from frepo_core.services.content.storages.storage_troubles import StorageTrouble, read_troubles
from frepo_core.services.reports.damaged_objects import count_damaged_by_storage


@struct
class StorageRecord:
    """A storage. `is_current`: it is the first one. `is_configured`: new blobs may be stored there.
    `is_mirror`: it is for second copies.

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
    is_mirror: bool
    trouble: StorageTrouble | None
    free_space: int | None
    damaged: int


@struct
class StorageContent:
    """What is in a storage: the numbers of blobs and of their bytes, and of the collections that it is for."""

    blobs: int = 0
    size: int = 0
    collections: int = 0


def count_contents(database: Database, backends: Backends) -> dict[str, StorageContent]:
    """Return what is in each storage by its name. Reads all rows of objects."""
    stored = (StoredObject.slot == CURRENT, StoredObject.key.is_not(None))
    blobs = select(StoredObject.storage, func.count(), func.sum(OBJECT_SIZE)).where(*stored)
    blobs = blobs.group_by(StoredObject.storage)
    choices = select(Collection.storage, func.count()).group_by(Collection.storage)
    with database.reading() as session:
        found = {name: (number, int(size)) for name, number, size in session.execute(blobs)}
        collections = Counter[str]()
        for name, number in session.execute(choices):
            collections[name or backends.current] += number
    return {
        name: StorageContent(
            blobs=found.get(name, (0, 0))[0], size=found.get(name, (0, 0))[1], collections=collections[name]
        )
        for name in {*found, *collections, *backends.configured}
    }


def list_storages(database: Database, backends: Backends, plugins: PluginRegistry) -> list[StorageRecord]:
    """Return the storages by name: the named ones, one for each adapter, and others that are known to fail."""
    with database.reading() as session:
        damaged, troubles = count_damaged_by_storage(session, backends), read_troubles(session)
        mirrors = {backends.mirror, *session.scalars(select(Collection.mirror).distinct())}
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
            is_mirror=name in mirrors,
            trouble=troubles.get(name),
            free_space=find_free_space(backends, name) if name in backends.in_use else None,
            damaged=damaged.get(name, 0),
        )
        for name in sorted({*packages, *backends.named, *troubles, *damaged})
    ]
