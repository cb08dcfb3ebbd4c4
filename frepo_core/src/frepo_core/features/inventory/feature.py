"""The inventory: what is installed, how it is set, and which stored bytes are damaged."""

from collections.abc import Sequence
from typing import Any

from frepo_core.services.composition.features import Feature

from .services import InventoryServices


def _endpoints() -> Sequence[Any]:
    from .v1 import damage, plugins, settings, storages

    return [endpoint for module in (damage, storages, plugins, settings) for endpoint in module.ENDPOINTS]


FEATURE = Feature(services=InventoryServices, endpoints=_endpoints)
