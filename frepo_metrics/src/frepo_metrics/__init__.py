"""frepo's metrics for Prometheus: requests, collections, jobs, events, damage and space, at `/metrics`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from frepo_core.plugins import PluginContext, SettingsSpec, hookimpl

from .settings import MetricsSettings

if TYPE_CHECKING:
    from frepo_core.web import Endpoint

__all__ = ["MetricsSettings", "frepo_endpoints", "frepo_metrics", "frepo_settings"]


@hookimpl
def frepo_settings() -> SettingsSpec:
    """Declare the settings `metrics.*`."""
    return SettingsSpec(prefix="metrics", model=MetricsSettings)


@hookimpl
def frepo_endpoints(context: PluginContext) -> "Sequence[Endpoint]":
    """Provide `GET /metrics` and count requests, if it is enabled or a code is set."""
    if not context.settings.is_served:
        return []
    from .endpoint import make_endpoint  # `frepo` loads this module, too, and needs neither the web nor Prometheus
    from .requests import requests_of

    context.service.observe_requests(requests_of(context).observe)
    return [make_endpoint(context.settings)]


@hookimpl
def frepo_metrics(context: PluginContext) -> Sequence[Any]:
    """Return the collectors of requests, of the service, of its collections, and of the process."""
    from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

    from .requests import requests_of
    from .service_state import CollectionMetrics, ServiceMetrics

    collectors = [requests_of(context), ServiceMetrics(context.service)]
    if context.settings.collections:
        collectors.append(CollectionMetrics(context.service, limit=context.settings.collections))
    return [
        *collectors,
        *(kind(registry=CollectorRegistry()) for kind in (ProcessCollector, PlatformCollector, GCCollector)),
    ]
