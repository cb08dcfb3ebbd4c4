"""The storages: which are installed, which one gets new blobs, and whether they work."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Blob
from frepo_core.errors import FrepoError
from frepo_core.plugins.registry import PluginRegistry

from ...content.storages.backends import Backends
from ...events.storage_states import StorageTrouble, read_troubles


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
        damaged, troubles = _count_damaged(session), read_troubles(session)
    packages = {spec.name: plugin.distribution for plugin in plugins.found for spec in plugin.storages}
    return [
        StorageRecord(
            name=name,
            package=packages.get(name),
            summary=plugins.storages[name].summary if name in plugins.storages else "",
            is_current=name == backends.current,
            trouble=troubles.get(name),
            free_space=_free_space(backends, name),
            damaged=damaged.get(name, 0),
        )
        for name in sorted({*packages, *troubles, *damaged})
    ]


def _count_damaged(session: Session) -> Mapping[str, int]:
    """Count the damaged blobs of each storage. There are few, and an index finds them."""
    query = select(Blob.storage, func.count()).where(Blob.damaged_at.is_not(None)).group_by(Blob.storage)
    return {storage: number for storage, number in session.execute(query)}


def _free_space(backends: Backends, name: str) -> int | None:
    if name not in backends.in_use:
        return None
    try:
        return backends.get(name).free_space()
    except FrepoError:  # the health check reports it
        return None
