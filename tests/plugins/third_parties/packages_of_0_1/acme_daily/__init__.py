"""The strategy `acme_daily` for frepo, as a third party would write it, and an endpoint that previews it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from frepo_core.plugins import StrategySpec, hookimpl

from .strategy import KeepDaily

if TYPE_CHECKING:
    from frepo_core.web import Endpoint


@hookimpl
def frepo_strategies() -> list[StrategySpec]:
    """Provide the strategy `acme_daily`."""
    return [StrategySpec(name="acme_daily", build=KeepDaily, summary="a full collection keeps the newest of each day")]


@hookimpl
def frepo_endpoints() -> "Sequence[Endpoint]":
    """Provide `GET /acme-daily/{collection}/preview`."""
    from .preview import ENDPOINTS  # `frepo` loads this module, too, and does not need the web

    return ENDPOINTS
