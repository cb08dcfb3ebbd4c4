"""The facade through which plug-ins use the service: the only way to its data."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import BinaryIO, Protocol

from frepo_core.domain.identity import Identity

from ..checks.upload_check import (
    CollectionInfo,
    CollectionProblem,
    PendingCheck,
)
from ..content_follower import FollowedReading
from ..events.event import Event, EventCount
from ..events.message import BoundNotifier, Message
from ..pages import Pages
from ..part_reader import BoundPartReader
from .administration import AdministeringService
from .collector import Collector
from .deleting import DeletingService
from .figures import CollectionUsage, ExpectedBackups, ServiceStatistics
from .http import HttpAnswer, RequestObserver
from .problems import ReportingService
from .reading import ReadingService
from .store import Store
from .writing import WritingService


class Service(ReadingService, WritingService, DeletingService, ReportingService, AdministeringService, Protocol):
    """What plug-ins can ask the service. Later versions add methods; none is removed before 1.0 without notice.

    Every method may be called by any thread, and opens and ends its own transaction. Errors are those of
    `frepo_core.plugins` and `frepo_core.errors`.
    """

    @property
    def store(self) -> Store:
        """What this plug-in keeps in the database: values under keys, and tables of its own."""

    @property
    def is_read_only(self) -> bool:
        """Whether the service is in read-only mode."""

    @property
    def storage_folder(self) -> Path | None:
        """The folder of the stored files, if they are on this host: the storage `local`. None with another storage."""

    @property
    def state_folder(self) -> Path:
        """A folder on this host for what must survive a restart.

        It is the one that contains the folder of the stored files, or the secrets with another storage. Keep your
        files in a folder with the name of your plug-in below it, and clear them yourself: nobody else does.
        """

    def permits(self, permission: str, by: Identity) -> bool:
        """Return whether a token may do what a permission of an `Endpoint` stands for, where it is on the list."""

    def ends_with_upload(self, by: Identity) -> bool:
        """Return whether a token ends with its first upload that succeeds."""

    def is_revoked(self, by: Identity) -> bool:
        """Return whether a token was revoked or used up since, and no token that replaced it is left.

        A token that has expired was not revoked: what it began may go on.
        """

    def health(self) -> Mapping[str, Sequence[str]]:
        """Run all health checks; return the problems that each found, by its name. No problem: it works."""

    def open_version(
        self, collection_id: str, number: int, *, by: Identity | None = None, password: str = ""
    ) -> BinaryIO:
        """Open the content of a version; the caller closes it. The file is seekable.

        Without `by`, for the plug-in itself: do not answer a client with it. With the identity of a client, it is a
        download of that: its roles, the `password` of the version and the policies about downloads apply, and each
        call is an event if `events.downloads` is on. It then raises `AccessDeniedError`, and the errors of a policy,
        too.

        If the content is damaged, reading it from the start to the end raises `StorageUnavailable`.
        Raises `NotFoundError` or a `StorageError`.
        """

    def require_download_right(self, collection_id: str, number: int, *, by: Identity, password: str = "") -> None:
        """Refuse a client that may not download a version, as `open_version` does. No event is recorded.

        For what is known about a content, such as the names in it.
        """

    def derive_key(self, purpose: str) -> bytes:
        """Return a key of 32 bytes for this plug-in and a purpose, derived from the secrets of the service.

        It is always the same as long as `app.secret` and `enc.token_phrase` are, and neither in the database nor in a
        storage. Encrypt with it what must not be read without the machine of the service, and can be made again.
        """

    def part_readers(self) -> Sequence[BoundPartReader]:
        """Return the readers of `frepo_part_readers` of all plug-ins, for the one that lists contents."""

    def pending_checks(self, name: str, *, limit: int, without: Sequence[str] = ()) -> Sequence[PendingCheck]:
        """Return up to `limit` versions for which the upload check `name` said `pending`.

        They come in rounds: one of each collection, its oldest, and the smallest of these first. Work through what one
        call returns before the next call, so that a collection with many versions does not hold up all others.
        `without` are ids of versions to leave out.
        """

    def attempt(self, check: PendingCheck, *, job: str) -> AbstractContextManager[bool]:
        """Count an attempt of a pending check before it begins: `with service.attempt(check, job=JOB) as is_due:`.

        A check that costs the process its life, such as one that the kernel ends for its memory, is an attempt, too,
        and does not hold up all others for ever: after three, the version is suspicious, and `is_due` is false. So it
        is if the version was deleted, or the check is not pending any more. An exception that leaves the block takes
        the attempt back. `record_check` does not count it again.
        """

    def followed(self, check: PendingCheck, file: BinaryIO) -> AbstractContextManager[FollowedReading]:
        """Let followers read a stored content together with its check: `with service.followed(check, file) as one:`.

        `file` is what `open_version` has returned; the check reads `one.file` instead, once and mostly in order. It
        waits for followers that are more than 32 MiB behind, for five seconds and one for each 10 MB at most, which
        `one.waited` counts. Leaving the block waits for them likewise.
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
        """Return the collections to which one of these states applies, such as `failed`, the worst first, and why."""

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

    def notify(self, message: Message, *, sender: str, collection_id: str | None = None) -> bool:
        """Send a message to people, in the ways that the operator has configured.

        It is recorded as an event `message.sent` by `system:<sender>`; name your job or plug-in there. Subscribers
        deliver it as any other event: later, at least once, and again after a failure. With `collection_id`, the
        filters of targets for collections apply. Return whether there is a subscriber for it: without one, nobody gets
        it. Raises `ValueError` for a message that is too long, and a `FrepoError` in read-only mode.
        """

    def notifiers(self) -> Mapping[str, BoundNotifier]:
        """Return the notifiers of all plug-ins by the scheme of their URLs, for a plug-in that delivers messages."""

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

    def check_address(
        self, url: str, *, allowed_networks: Sequence[IPv4Network | IPv6Network] = (), setting: str = ""
    ) -> None:
        """Raise `RemoteError` if `send_request` would not connect to the host of this URL.

        The name of the host is resolved, and nothing is sent: for a check of `frepo doctor`.
        """

    def statistics(self) -> ServiceStatistics:
        """Return figures about the service, for metrics."""

    def collection_usage(self, *, limit: int) -> Sequence[CollectionUsage]:
        """Return what the collections contain, the newest collections first, at most `limit`."""

    def untested_collections(self, *, limit: int) -> Sequence[CollectionUsage]:
        """Return the collections without a good restore test for `restore_tests.every`, the longest untested first."""

    def unchanged_collections(self, *, limit: int) -> Sequence[CollectionUsage]:
        """Return the collections that get the same content for a week or longer, those with the most nights first."""

    def observe_requests(self, observer: RequestObserver) -> None:
        """Call the observer after each request of this process, once. Call this in the hook `frepo_endpoints`."""
