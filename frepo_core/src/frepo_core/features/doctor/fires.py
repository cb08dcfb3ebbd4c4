"""Says what the fire of each storage would cost, and what no storage can decode any more."""

from collections.abc import Iterator

from frepo_core.services.composition.container import Services

from ..storage_check.storage_check import check_storages
from .findings import Finding, good, problem


def check_fires(services: Services) -> Iterator[Finding]:
    """Yield what a fire of each storage would cost, and what can be decoded nowhere. Reads all rows of contents."""
    found = check_storages(services)
    for one in found.storages:
        cost = one.only_here.describe() if one.only_here.contents else "nothing: the others can decode all contents"
        if one.trouble:
            message = f"The storage {one.storage!r} does not work, so the fires of others cost more: {one.trouble}"
            yield problem("fires", message, "Mount it, or correct its settings")
        else:
            yield good("fires", f"A fire of the storage {one.storage!r} would cost {cost}")
    if found.lost.contents:
        message = f"No storage can decode {found.lost.describe()}"
        yield problem(
            "copies", message, "Send the same contents again, or restore their keys, see `frepo storage:check`"
        )
