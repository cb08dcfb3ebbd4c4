"""The part of the facade that writes in the name of a client: it implements `WritingService`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from frepo_core.db import utc_now
from frepo_core.domain.backups.guard_values import field_of
from frepo_core.domain.backups.version_labels import check_labels, check_note
from frepo_core.domain.identity import Actor, Identity
from frepo_core.domain.naming import check_file_name, check_tag
from frepo_core.errors import FieldsError, StorageFull
from frepo_core.plugins import (
    FileInfo,
    Guards,
    NewRun,
    OnFinding,
    Outcome,
    PendingCheck,
    SentContent,
    SessionFile,
    StoredVersion,
    UploadStart,
)
from frepo_core.plugins.checks.upload_check import Covers, FoundVerdict

from ...base.idempotency import IdempotentUpload, RecordedAnswer, find_recorded_answer
from ...base.plugin_failures import as_json, storable, storable_kinds, storable_name
from ...base.records import collection_info
from .connection import ConnectedFacade
from .descriptions import file_info, stored_version
from .idempotent_uploads import idempotent_file, idempotent_version, recorded_file, recorded_version

if TYPE_CHECKING:
    from ...content.ingest import Incoming
    from ...files.files import NewFile

MAX_STATUSES = 32


class WritingFacade(ConnectedFacade):
    """Writes by the same services as the endpoints, and checks the rights that the endpoints' permissions check."""

    def identify(
        self,
        token_id: str,
        *,
        address: str,
        user_agent: str = "",
        began_at: datetime | None = None,
        earlier: Identity | None = None,
    ) -> Identity:
        age = 0.0 if began_at is None else max((utc_now() - began_at).total_seconds(), 0.0)
        return self._services.tokens.identify(
            token_id, address=address, user_agent=user_agent, age=age, earlier=earlier
        )

    def may_add_version(
        self, collection_id: str, *, by: Identity, size: int | None = None, head: bytes = b""
    ) -> UploadStart:
        services = self._writable()
        collection = self._collection_for(collection_id, "version.upload", by)
        allowed = services.announced_versions.check(collection, by=by, size=size, head=head)
        return UploadStart(
            collection=collection_info(collection),
            last_number=collection.last_number,
            max_size=allowed.max_size,
            room=allowed.room,
        )

    def require_upload_right(self, collection_id: str, *, by: Identity) -> None:
        self._writable()
        self._collection_for(collection_id, "version.upload", by)

    def record_lack_of_room(self, collection_id: str, message: str, *, by: Identity, size: int | None = None) -> None:
        services = self._writable()
        collection = self._collection_for(collection_id, "version.upload", by)
        services.refusals.record(collection.id, StorageFull(message), by=by, size=size)

    def add_version(
        self,
        collection_id: str,
        content: BinaryIO | SentContent,
        *,
        by: Identity,
        size: int | None = None,
        sha256: str | None = None,
        last_number: int | None = None,
        began_at: datetime | None = None,
        silent_since: datetime | None = None,
        run: NewRun | None = None,
        idempotency_key: str | None = None,
        coding: str | None = None,
        guards: Guards | None = None,
        note: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> StoredVersion:
        # A command that stores nothing need not import these.
        from ...backups.rotation.overtaken import Sending
        from ...backups.rows.version_values import VersionValues
        from ...backups.versions.version_upload import UploadOptions

        services = self._writable()
        collection = self._collection_for(collection_id, "version.upload", by)
        # A collection with the same id may have been created since.
        noted = collection.last_number if last_number is None else min(last_number, collection.last_number)
        options = UploadOptions(
            idempotency=idempotent_version(idempotency_key, self._plugin, collection) if idempotency_key else None,
            sending=Sending(noted=noted, began_at=began_at or utc_now(), silent_since=silent_since),
            values=VersionValues(
                guards=_guards_of_content(guards), note=check_note(note), labels=check_labels(labels or {})
            ),
        )
        run = run and replace(run, exit_statuses=_statuses(run.exit_statuses))
        with self._incoming(content, size, sha256, coding) as incoming:
            added = services.reported_uploads.add(collection, incoming, by=by, run=run, options=options)
        _taken(content)
        return recorded_version(added) if isinstance(added, RecordedAnswer) else stored_version(added, collection)

    def may_upload_file(
        self,
        name: str,
        *,
        by: Identity,
        size: int | None = None,
        tags: Sequence[str] = (),
        password: str = "",
        head: bytes = b"",
    ) -> int | None:
        # A command that stores no file need not import these.
        from ...content.ingest import smallest_limit
        from ...content.mime_detection import detect_type
        from ...content.token_limits import check_type_of_file

        files = self._writable().files
        files.check_rights(_new_file(name, tags, password=password), by=by)
        limits = files.limits(by=by)
        for limit in limits:
            limit.enforce(size or 0)
        if head:
            check_type_of_file(by, detect_type(head))
        self._services.arrivals.require_room(size or 0)
        return smallest_limit(limits)

    def upload_file(
        self,
        content: BinaryIO | SentContent,
        name: str,
        *,
        by: Identity,
        size: int | None = None,
        sha256: str | None = None,
        tags: Sequence[str] = (),
        public: bool = False,
        password: str = "",
        idempotency_key: str | None = None,
        coding: str | None = None,
    ) -> FileInfo:
        new = _new_file(name, tags, public=public, password=password)
        key = idempotent_file(idempotency_key, self._plugin) if idempotency_key else None
        with self._incoming(content, size, sha256, coding) as incoming:
            added = self._writable().files.add(new, incoming, by=by, idempotency=key)
        _taken(content)
        if isinstance(added, RecordedAnswer):
            return recorded_file(added)
        return file_info(added.file, is_new=not added.existed)

    @contextmanager
    def _incoming(
        self, content: BinaryIO | SentContent, size: int | None, sha256: str | None, coding: str | None
    ) -> Iterator["Incoming"]:
        # A command that stores nothing need not import these.
        from ...content.decoding.decoded_stream import DecodedStream
        from ...content.ingest import Incoming

        if isinstance(content, SentContent):
            yield Incoming(stream=content.file, declared_size=content.size, sha256=content.sha256, md5=content.md5)
            return
        digests = (sha256,) if sha256 else ()
        if coding:
            with DecodedStream(content, coding, self._services.ingest.decoder_memory) as stream:
                source = cast(BinaryIO, stream)
                yield Incoming(stream=source, declared_size=size, sha256=digests, is_exact=size is not None)
            return
        is_exact = isinstance(content, SessionFile)
        if isinstance(content, SessionFile) and size is None:
            size = content.size
        yield Incoming(stream=content, declared_size=size, sha256=digests, is_exact=is_exact)

    def find_added_version(
        self, collection_id: str, *, by: Identity, sha256: str, idempotency_key: str
    ) -> StoredVersion | None:
        try:
            collection = self._services.collections.get(collection_id)
        except FieldsError:  # it was deleted
            return None
        found = self._find_added(idempotent_version(idempotency_key, self._plugin, collection), sha256, by)
        return None if found is None else recorded_version(found)

    def find_added_file(self, *, by: Identity, sha256: str, idempotency_key: str) -> FileInfo | None:
        found = self._find_added(idempotent_file(idempotency_key, self._plugin), sha256, by)
        return None if found is None else recorded_file(found)

    def _find_added(self, key: IdempotentUpload[Any], sha256: str, by: Identity) -> RecordedAnswer | None:
        with self._services.database.reading() as session:
            return find_recorded_answer(session, key, sha256, by)

    def count_held_bytes(self, held: Callable[[], int]) -> None:
        self._services.ingest.held.count(f"the plug-in {self._plugin!r}", held)

    def record_run(self, collection_id: str, run: NewRun, *, by: Identity) -> int | None:
        services = self._writable()
        collection = self._collection_for(collection_id, "version.upload", by)
        run = replace(run, exit_statuses=_statuses(run.exit_statuses))
        return services.run_reports.record(collection.id, run, by=by).version_number

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
        from ...backups.versions.version_checks import NewCheck  # not every command records checks

        result = NewCheck(
            name=check.name,
            outcome=outcome,
            message=storable(message),
            details=dict(details or {}),
            covers=covers if outcome == "good" else None,
            on_finding=on_finding,
            kinds=storable_kinds(kinds),
            database=storable_name(database),
            attempts=check.attempts + 1,
        )
        return self._services.late_results.record(check.version_id, result, by=Actor(name=f"system:{job}"))

    def record_version_check(
        self,
        collection_id: str,
        version: str,
        name: str,
        outcome: FoundVerdict | Outcome,
        message: str,
        *,
        by: Identity,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        from ...backups.versions.version_checks import NewCheck

        services = self._writable()
        collection = self._collection_for(collection_id, "version.upload", by)
        found = services.versions.find_selected(collection.id, version)
        result = NewCheck(name=name, outcome=outcome, message=storable(message), details=as_json(details or {}))
        services.client_checks.record(found.id, result, by=by)


def _statuses(given: Sequence[int]) -> tuple[int, ...]:
    """Return exit statuses as they are stored. Raises `FieldsError` if they are none."""
    statuses = tuple(given)
    if len(statuses) > MAX_STATUSES or not all(isinstance(one, int) and abs(one) <= 2**32 for one in statuses):
        raise FieldsError({"exit_statuses": [f"Give whole numbers, at most {MAX_STATUSES}"]})
    return statuses


def _guards_of_content(guards: Guards | None) -> dict[str, Any]:
    """Return the guards by the names of the fields of their domain. Raises `ValueError`."""
    if guards is not None and guards.min_retention is not None:
        raise ValueError("min_retention is about the collection: choose it with edit_collection")
    return {field_of(name): value for name, value in guards.chosen().items()} if guards else {}


def _new_file(name: str, tags: Sequence[str], *, public: bool = False, password: str = "") -> "NewFile":
    # A command that stores no file need not import this.
    from ...files.files import NewFile

    try:
        name = check_file_name(name)
    except ValueError as error:
        raise FieldsError({"name": [str(error)]}) from None
    try:
        checked = [check_tag(tag) for tag in tags]
    except ValueError as error:
        raise FieldsError({"tags": [str(error)]}) from None
    return NewFile(name=name, tags=checked, public=public, password=password)


def _taken(content: BinaryIO | SentContent) -> None:
    if isinstance(content, SessionFile):
        content.taken()
