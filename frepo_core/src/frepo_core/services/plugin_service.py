"""The facade that plug-ins use instead of the services themselves: it implements `frepo_core.plugins.Service`."""

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from frepo_core.domain.identity import Actor
from frepo_core.plugins import Collector, ConfigurationError, Outcome, Pages, PendingCheck

from .collections.version_checks import NewCheck
from .content.seekable_content import seekable_content

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
        blob = self._services.versions.find(collection_id, f"v{number}").file.blob
        return seekable_content(partial(self._services.downloads.open, blob), blob.size)

    def pending_checks(self, name: str, *, limit: int, without: Sequence[str] = ()) -> Sequence[PendingCheck]:
        """See `Service.pending_checks`."""
        return self._services.version_checks.pending(name, limit=limit, without=without)

    def record_check(
        self,
        check: PendingCheck,
        outcome: Literal["broken"] | Outcome,
        message: str,
        *,
        job: str,
        details: Mapping[str, Any] | None = None,
    ) -> bool:
        """See `Service.record_check`."""
        result = NewCheck(name=check.name, outcome=outcome, message=message, details=dict(details or {}))
        return self._services.version_checks.record(check.version_id, result, by=Actor(name=f"system:{job}"))

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
