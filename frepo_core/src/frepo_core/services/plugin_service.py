"""The facade that plug-ins use instead of the services themselves: it implements `frepo_core.plugins.Service`."""

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO

from frepo_core.plugins import Collector, ConfigurationError, Pages

if TYPE_CHECKING:
    from .container import Services

log = logging.getLogger(__name__)


class PluginService:
    """Gives plug-ins access to the service. Their contexts are made before the services, which use the contexts."""

    def __init__(self) -> None:
        self._connected: Services | None = None

    def connect(self, services: "Services") -> None:
        """Set the services, once they are built."""
        self._connected = services

    @property
    def is_read_only(self) -> bool:
        """See `Service.is_read_only`."""
        return self._services.settings.read_only

    def health(self) -> Mapping[str, Sequence[str]]:
        """See `Service.health`."""
        return self._services.health.run()

    def open_version(self, collection_id: str, number: int) -> BinaryIO:
        """See `Service.open_version`."""
        version = self._services.versions.find(collection_id, f"v{number}")
        return self._services.downloads.open(version.file.blob)

    def collectors(self) -> Sequence[Collector]:
        """See `Service.collectors`."""
        found: list[Collector] = []
        for plugin in self._services.plugins.found:
            try:
                offers = plugin.metrics(self._services.contexts[plugin.name])
            except ConfigurationError as error:
                log.error("its metrics are left out: %s", error.message)
            else:
                found += [Collector(origin=plugin.origin, collector=offer) for offer in offers]
        return found

    def pages(self) -> Sequence[Pages]:
        """See `Service.pages`."""
        return [pages for plugin in self._services.plugins.found for pages in plugin.pages()]

    @property
    def _services(self) -> "Services":
        if self._connected is None:
            raise RuntimeError("Hooks must not use the service. Use it in the functions that they return.")
        return self._connected
