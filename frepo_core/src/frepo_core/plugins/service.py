"""The facade through which plug-ins use the service: the only way to its data."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network
from typing import Any, BinaryIO, Protocol

from .installation.hang_watch import HangWatch
from .pages import Pages
from .upload_check import CollectionInfo, CollectionProblem, Covers, FoundVerdict, OnFinding, Outcome, PendingCheck

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


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened and was committed.

    - `id` identifies the event; `position` is its place in the order of commits. Events are delivered in this order.
    - `at`: the time in UTC (aware). `kind`: such as `version.added`.
    - `actor`: who did it: fingerprint and name of a token, or `system:<job>`. `address`: of the client, None if there
      was none.
    - `collection_id`, `version_number`, `file_id` and `token` (a fingerprint): what it is about, None where it is not
      about one.
    - `data`: more, depending on the kind. It never contains a secret.
    """

    id: int
    position: int
    at: datetime
    kind: str
    actor: str
    address: str | None = None
    collection_id: str | None = None
    version_number: int | None = None
    file_id: str | None = None
    token: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class EventCount:
    """How many events of one kind there were, and how many different collections they were about."""

    events: int
    collections: int


@dataclass(frozen=True, kw_only=True)
class MissingBackup:
    """A backup that was due at `due_at` (UTC, aware) and has not arrived. `is_overdue`: also after the grace."""

    collection: CollectionInfo
    due_at: datetime
    is_overdue: bool
    last_arrival: datetime | None


@dataclass(frozen=True, kw_only=True)
class ExpectedBackups:
    """How many collections expect backups, and which are missing, the overdue ones and the oldest first."""

    expected: int
    missing: Sequence[MissingBackup]


@dataclass(frozen=True, kw_only=True)
class HttpAnswer:
    """The answer of another server, without its body. The names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class CollectionUsage:
    """What a collection contains: its versions, the bytes of all of them, and the time of the newest (UTC, aware).

    `max_versions` and `max_size` are its limits; 0 is no limit. `state` is that of `GET /api/v1/collections`, such as
    `ok` or `overdue`; `due_at` is when the next version is expected, if one is. `newest_good_at` is the time of the
    newest version whose verdict is good, `restore_tested_at` that of the last good restore test.
    """

    id: str
    name: str
    versions: int
    size: int
    newest_at: datetime | None
    max_versions: int
    max_size: int
    state: str = ""
    due_at: datetime | None = None
    newest_good_at: datetime | None = None
    restore_tested_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class JobStatus:
    """A job of the worker. Times are in UTC (aware), None for never.

    `is_failing` is whether its last run failed. `next_at` is None if its schedule is `off`.
    """

    name: str
    is_failing: bool
    next_at: datetime | None
    last_started: datetime | None
    last_success: datetime | None


@dataclass(frozen=True, kw_only=True)
class ServiceStatistics:
    """Figures about the service that are cheap to read.

    - `versions` and `size` (bytes) are sums over all collections; equal content counts each time.
    - `trash_versions` and `trash_size` (bytes): what can be restored; equal content counts each time.
    - `collections_by_state`: how many collections are in each state; all states are there.
    - `versions_by_verdict`: how many versions are `good`, `pending`, `suspicious` and `broken`, with the quarantine.
    - `events_behind`: how many events each subscriber has not handled yet; `parked_events`: those it could not handle.
    - `free_space`: bytes of the storage for new blobs, None if unknown; `temporary_space`: of the disk for uploads.
    """

    collections: int
    versions: int
    size: int
    damaged_blobs: int
    events_behind: Mapping[str, int]
    parked_events: Mapping[str, int]
    jobs: Sequence[JobStatus]
    storage: str
    free_space: int | None
    temporary_space: int
    collections_by_state: Mapping[str, int] = field(default_factory=dict)
    trash_versions: int = 0
    trash_size: int = 0
    versions_by_verdict: Mapping[str, int] = field(default_factory=dict)


class RequestObserver(Protocol):
    """A function that is called after each request. It must be fast, and it is called by several threads at once."""

    def __call__(
        self, method: str, path: str, status: int, seconds: float, received: int, sent: int, error: str, /
    ) -> None:
        """Take a finished request.

        `path` is the path of the endpoint with its placeholders, empty for an unknown path. `seconds` is the time in
        the application, without the transfer of bodies. `received` and `sent` are the sizes of the bodies in bytes, 0
        if unknown. `error` is the name of the error's class, empty if there was none.
        """


class Service(Protocol):
    """What plug-ins can ask the service. Later versions add methods; none is removed before 1.0 without notice.

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
        """Return up to `limit` versions for which the upload check `name` said `pending`.

        They come in rounds: one of each collection, the smallest first. Work through what one call returns before the
        next call, so that a collection with many versions does not hold up all others. `without` are ids of versions to
        leave out.
        """

    def record_check(
        self,
        check: PendingCheck,
        outcome: FoundVerdict | Outcome,
        message: str,
        *,
        job: str,
        details: Mapping[str, Any] | None = None,
        covers: Covers = "container",
        kinds: Sequence[str] | None = None,
        database: str = "",
        on_finding: OnFinding | None = None,
    ) -> bool:
        """Record the result of a pending check, found by a job, with the event `version.checked`.

        `covers`, `kinds` and `database` are as in a `CheckResult`, `on_finding` as in a `Finding`: if the version is
        broken and rotation has waited for it, it is put into quarantine or added. `pending` counts as an attempt in
        vain; after the third, the version is suspicious. Return False if the version was deleted meanwhile.
        """

    def collectors(self) -> Sequence[Collector]:
        """Return the collectors of `frepo_metrics` of all plug-ins. Failures of a hook are logged; others continue."""

    def pages(self) -> Sequence[Pages]:
        """Return the pages of all plug-ins, for the menu of the web console."""

    def collection(self, collection_id: str) -> CollectionInfo | None:
        """Return a collection; None if it does not exist, e.g. because it was deleted."""

    def expected_backups(self) -> ExpectedBackups:
        """Return how many collections expect backups now, and whose backup is due and has not arrived."""

    def collections_in(self, states: Sequence[str], *, limit: int = 20) -> Sequence[CollectionProblem]:
        """Return the collections in one of these states, such as `failed`, with the reasons, the worst first."""

    def events(
        self,
        *,
        after: int | None = None,
        since: datetime | None = None,
        kinds: Sequence[str] = ("*",),
        limit: int = 1000,
    ) -> Sequence[Event]:
        """Return the first events in the order of commits: those after a position, or since a time in UTC (aware).

        `kinds` are kinds or patterns, as those of a `Subscriber`. Events that have no position yet are left out. These
        are all events, also those about collections, files and tokens that a client must not see: to answer a client
        with events, use `request.services.audit.page(search, page, by=request.sender)`.
        """

    def count_events(self, *, since: datetime) -> Mapping[str, EventCount]:
        """Count the events since a time in UTC (aware), by kind. A kind without events is left out."""

    def last_success(self, job: str) -> datetime | None:
        """Return when the last successful run of a job was started, in UTC (aware); None without such a run."""

    def send_request(
        self,
        method: str,
        url: str,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
        allowed_networks: Sequence[IPv4Network | IPv6Network] = (),
        setting: str = "",
    ) -> HttpAnswer:
        """Send an HTTP request to a public address, or to one of the allowed networks, as add-by-url does.

        A host name is resolved once, and only the checked addresses are connected to. Redirects of a `GET` without
        headers are followed, under the same rules; other redirects are returned. User and password in the URL are not
        sent, and the URL is not logged. `timeout` is in seconds, for the whole request. `setting` is the name of the
        setting with the allowed networks, for the message. Raises `RemoteError`, whose `reason` never names the URL.
        """

    def statistics(self) -> ServiceStatistics:
        """Return figures about the service, for metrics."""

    def collection_usage(self, *, limit: int) -> Sequence[CollectionUsage]:
        """Return what the collections contain, the newest collections first, at most `limit`."""

    def untested_collections(self, *, limit: int) -> Sequence[CollectionUsage]:
        """Return the collections without a good restore test for `restore_tests.every`, the longest untested first."""

    def observe_requests(self, observer: RequestObserver) -> None:
        """Call the observer after each request of this process, once. Call this in the hook `frepo_endpoints`."""
