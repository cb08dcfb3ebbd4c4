"""The facade through which plug-ins use the service: the only way to its data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

from .pages import Pages


@dataclass(frozen=True, kw_only=True)
class Collector:
    """A collector of `prometheus_client`, and the plug-in that provides it, for messages."""

    origin: str
    collector: Any


class Service(Protocol):
    """What plug-ins can ask the service. Methods are added in later versions; none is removed before 1.0 without notice.

    Every method may be called by any thread, and opens and ends its own transaction. Errors are those of
    `frepo_core.plugins` and `frepo_core.errors`.
    """

    @property
    def is_read_only(self) -> bool:
        """Whether the service is in read-only mode."""

    def health(self) -> Mapping[str, Sequence[str]]:
        """Run all health checks; return the problems that each found, by its name. No problem: it works."""

    def open_version(self, collection_id: str, number: int) -> BinaryIO:
        """Open the content of a version; the caller closes it. Reading raises if the content is damaged.

        Raises `NotFoundError` or a `StorageError`.
        """

    def collectors(self) -> Sequence[Collector]:
        """Return the collectors of `frepo_metrics` of all plug-ins. A plug-in whose hook fails is logged and left out."""

    def pages(self) -> Sequence[Pages]:
        """Return the pages of all plug-ins, for the menu of the web console."""
