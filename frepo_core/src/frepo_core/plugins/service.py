"""The facade through which plug-ins use the service: the only way to its data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, Literal, Protocol

from .pages import Pages
from .upload_check import Outcome


@dataclass(frozen=True, kw_only=True)
class Collector:
    """A collector of `prometheus_client`, and the plug-in that provides it, for messages."""

    origin: str
    collector: Any


@dataclass(frozen=True, kw_only=True)
class PendingCheck:
    """A version whose check `name` is pending since the time `since` (UTC, aware). `size` is in bytes."""

    name: str
    version_id: str
    collection_id: str
    version_number: int
    file_name: str
    mime_type: str
    size: int
    since: datetime


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
        """Open the content of a version; the caller closes it. The file is seekable.

        If the content is damaged, reading it from the start to the end raises `StorageUnavailable`.
        Raises `NotFoundError` or a `StorageError`.
        """

    def pending_checks(self, name: str, *, limit: int, without: Sequence[str] = ()) -> Sequence[PendingCheck]:
        """Return up to `limit` versions for which the upload check `name` said `pending`, the oldest result first.

        `without` are ids of versions to leave out.
        """

    def record_check(
        self,
        check: PendingCheck,
        outcome: Literal["broken"] | Outcome,
        message: str,
        *,
        job: str,
        details: Mapping[str, Any] | None = None,
    ) -> bool:
        """Record the result of a pending check, found by a job, with the event `version.checked`.

        Return False if the version was deleted meanwhile.
        """

    def collectors(self) -> Sequence[Collector]:
        """Return the collectors of `frepo_metrics` of all plug-ins. A plug-in whose hook fails is logged and left out."""

    def pages(self) -> Sequence[Pages]:
        """Return the pages of all plug-ins, for the menu of the web console."""
