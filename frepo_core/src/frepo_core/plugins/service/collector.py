"""A plug-in's collector of metrics, for the plug-in that exports them."""

import logging
from dataclasses import dataclass
from typing import Any

from ..hang_watch import HangWatch

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Collector:
    """A collector of `prometheus_client`, and the plug-in that provides it, for messages."""

    origin: str
    collector: Any

    def collect(self) -> list[Any]:
        """Return the metrics of the collector. One that does not return is named in the log after ten seconds.

        Raises what the collector raises, and `TypeError` for an object without `collect`.
        """
        if not callable(getattr(self.collector, "collect", None)):
            raise TypeError(
                f"the hook for metrics returned {self.collector!r}, which has no method collect() as a collector has"
            )
        with HangWatch(f"a collector of {self.origin}", log):
            return list(self.collector.collect())
