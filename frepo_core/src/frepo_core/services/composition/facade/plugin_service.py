"""The facade that plug-ins use instead of the services themselves: it implements `frepo_core.plugins.Service`."""

import hmac
import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from sqlalchemy import func, select

from frepo_core.db.models import Collection, JobRun
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor, Identity
from frepo_core.domain.permissions import allows
from frepo_core.errors import ReadOnlyError
from frepo_core.plugins import (
    BoundNotifier,
    BoundPartReader,
    CollectionInfo,
    CollectionProblem,
    CollectionUsage,
    Collector,
    ConfigurationError,
    Event,
    EventCount,
    ExpectedBackups,
    FollowedReading,
    HttpAnswer,
    Message,
    MissingBackup,
    Pages,
    PendingCheck,
    RequestObserver,
    ServiceStatistics,
)

from ...backups.collections.states import BackupState
from ...base.records import CollectionRecord, FileRecord, collection_info
from ...content.storages.storage_space import temporary_folder
from ...reports.statistics import read_collection_usage, read_statistics
from .administration import AdministeringFacade
from .deleting import DeletingFacade
from .writing import WritingFacade

if TYPE_CHECKING:
    from .store import PluginStore

log = logging.getLogger(__name__)


class PluginService(DeletingFacade, WritingFacade, AdministeringFacade):
    """Gives a plug-in access to the service."""

    @property
    def store(self) -> "PluginStore":
        from .store import PluginStore  # not every command keeps values

        return PluginStore(self._services, self._plugin)

    @property
    def is_read_only(self) -> bool:
        return self._services.settings.read_only

    @property
    def storage_folder(self) -> Path | None:
        folder = getattr(self._services.backends.current_settings, "directory", None)
        return folder.absolute() if isinstance(folder, Path) else None

    @property
    def state_folder(self) -> Path:
        if (storage := self.storage_folder) is not None:
            return storage.parent
        settings = self._services.settings
        return (settings.app_secrets_file or temporary_folder(settings)).absolute().parent

    def permits(self, permission: str, by: Identity) -> bool:
        return allows(permission, by, listed=True)

    def ends_with_upload(self, by: Identity) -> bool:
        return by.ends_with_upload

    def is_revoked(self, by: Identity) -> bool:
        from ...access.former_tokens import is_revoked  # not every command asks

        with self._services.database.reading() as session:
            return is_revoked(session, by)

    def health(self) -> Mapping[str, Sequence[str]]:
        return self._services.health.run()

    def open_version(
        self, collection_id: str, number: int, *, by: Identity | None = None, password: str = ""
    ) -> BinaryIO:
        if by is None:
            return self._open(self._services.versions.find(collection_id, f"v{number}").file)
        file = self._readable(collection_id, number, by, password)
        content = self._open(file)
        self._services.download_events.record(file, by=by, address=by.address)
        return content

    def require_download_right(self, collection_id: str, number: int, *, by: Identity, password: str = "") -> None:
        self._readable(collection_id, number, by, password)

    def _readable(self, collection_id: str, number: int, by: Identity, password: str) -> FileRecord:
        """Return the file of a version that a client may download."""
        from ...files.downloads import DownloadCredentials  # not every command downloads

        collection = self._collection_for(collection_id, "version.list", by)
        name = self._services.versions.find(collection.id, f"v{number}").file.stored_name
        credentials = DownloadCredentials(identity=by, address=by.address, password=password)
        return self._services.downloads.find(name, credentials)

    def derive_key(self, purpose: str) -> bytes:
        settings = self._services.settings
        secrets = [settings.app_secret.get_secret_value(), settings.enc_token_phrase.get_secret_value()]
        extracted = hmac.digest(b"", json.dumps(secrets).encode(), "sha256")  # HKDF without a salt (RFC 5869)
        return hmac.digest(extracted, f"frepo plug-in {self._plugin}: {purpose}\x01".encode(), "sha256")

    def part_readers(self) -> Sequence[BoundPartReader]:
        readers = self._services.plugins.part_readers.values()
        return [BoundPartReader(plugin=owned.plugin.name, reader=owned.spec) for owned in readers]

    def _open(self, file: FileRecord) -> BinaryIO:
        from ...content.seekable_content import seekable_content  # not every command reads contents

        return seekable_content(partial(self._services.stored_content.open, file.blob), file.blob.size)

    def pending_checks(self, name: str, *, limit: int, without: Sequence[str] = ()) -> Sequence[PendingCheck]:
        return self._services.version_checks.pending(name, limit=limit, without=without)

    def attempt(self, check: PendingCheck, *, job: str) -> AbstractContextManager[bool]:
        return self._services.check_attempts.attempt(check, by=Actor(name=f"system:{job}"))

    def followed(self, check: PendingCheck, file: BinaryIO) -> AbstractContextManager[FollowedReading]:
        version = self._services.versions.find(check.collection_id, f"v{check.version_number}")
        return self._services.content_followers.following(file, check.size, version.file.blob.digest)

    def collectors(self) -> Sequence[Collector]:
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
        return [pages for plugin in self._services.plugins.found for pages in plugin.pages()]

    def collection(self, collection_id: str) -> CollectionInfo | None:
        with self._services.database.reading() as session:
            row = session.get(Collection, collection_id)
            return collection_info(CollectionRecord.of(row)) if row else None

    def expected_backups(self) -> ExpectedBackups:
        found = self._services.collection_states.missing()
        return ExpectedBackups(
            expected=found.expected,
            missing=[_missing(row, is_overdue=True) for row in found.overdue]
            + [_missing(row, is_overdue=False) for row in found.late],
        )

    def collections_in(self, states: Sequence[str], *, limit: int = 20) -> Sequence[CollectionProblem]:
        found = self._services.collection_states.in_states([BackupState(state) for state in states], limit)
        return [
            CollectionProblem(
                collection=collection_info(record),
                state=one.state,
                since=one.since,
                reason=one.reason,
                states=tuple(one.states),
            )
            for record, one in found
        ]

    def events(
        self,
        *,
        after: int | None = None,
        since: datetime | None = None,
        kinds: Sequence[str] = ("*",),
        limit: int = 1000,
    ) -> Sequence[Event]:
        from ...events.queries import read_events  # not every command reads events

        services = self._services
        own = services.plugins.event_kinds
        return read_events(services.database, after=after, since=since, kinds=kinds, limit=limit, of_plugins=own)

    def count_events(self, *, since: datetime) -> Mapping[str, EventCount]:
        from ...events.queries import count_events  # not every command reads events

        return count_events(self._services.database, since)

    def notify(self, message: Message, *, sender: str, collection_id: str | None = None) -> bool:
        if self.is_read_only:
            raise ReadOnlyError("The service is in read-only mode, so messages are not recorded")
        from .messages import record_message  # not every command notifies

        record_message(self._services.database, message, sender=sender, collection_id=collection_id)
        subscribers = self._services.plugins.subscribers.values()
        return any(owned.spec.wants(EventKind.MESSAGE_SENT) for owned in subscribers)

    def notifiers(self) -> Mapping[str, BoundNotifier]:
        from .messages import bind  # not every command notifies

        services = self._services
        return {
            name: bind(owned, services.contexts[owned.plugin.name])
            for name, owned in services.plugins.notifiers.items()
        }

    def last_success(self, job: str) -> datetime | None:
        succeeded = (JobRun.name == job, JobRun.ended_at.is_not(None), JobRun.error.is_(None))
        with self._services.database.reading() as session:
            return session.scalar(select(func.max(JobRun.started_at)).where(*succeeded))

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
        from ...content.remote.outgoing import send_request  # not every command sends requests

        return send_request(
            method,
            url,
            body=body,
            headers=headers or {},
            timeout=timeout,
            allowed_networks=allowed_networks,
            setting=setting or "a setting of the plug-in",
        )

    def check_address(
        self, url: str, *, allowed_networks: Sequence[IPv4Network | IPv6Network] = (), setting: str = ""
    ) -> None:
        from ...content.remote.outgoing import check_address

        check_address(url, allowed_networks=allowed_networks, setting=setting or "a setting of the plug-in")

    def statistics(self) -> ServiceStatistics:
        return read_statistics(self._services, self._services.figures)

    def collection_usage(self, *, limit: int) -> Sequence[CollectionUsage]:
        with self._services.database.reading() as session:
            return read_collection_usage(session, limit)

    def untested_collections(self, *, limit: int) -> Sequence[CollectionUsage]:
        ids = [one.id for one in self._services.restore_ages.find_untested(limit).collections]
        with self._services.database.reading() as session:
            return sorted(read_collection_usage(session, limit, ids), key=lambda one: ids.index(one.id))

    def unchanged_collections(self, *, limit: int) -> Sequence[CollectionUsage]:
        ids = [one.id for one in self._services.collection_states.unchanged(limit).collections]
        with self._services.database.reading() as session:
            return sorted(read_collection_usage(session, limit, ids), key=lambda one: ids.index(one.id))

    def observe_requests(self, observer: RequestObserver) -> None:
        if observer not in self._services.request_observers:
            self._services.request_observers.append(observer)


def _missing(record: CollectionRecord, *, is_overdue: bool) -> MissingBackup:
    assert record.due_at is not None
    return MissingBackup(
        collection=collection_info(record),
        due_at=record.due_at,
        is_overdue=is_overdue,
        last_arrival=record.arrived_at,
    )
