"""AddVersion a version: read, stored, and written in one short transaction that makes room."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, Collection, File, Version
from frepo_core.domain.identity import Identity, actor, new_uuid4
from frepo_core.domain.mime_types import fits_token
from frepo_core.domain.naming import version_name
from frepo_core.errors import RuleError, TypeNotAllowedError, VersionConflictError
from frepo_core.plugins import IncomingVersion, PluginRegistry
from frepo_core.settings import Settings

from ..access.tokens import consume_token, log_consumed_token
from ..blobs.failpoints import hit
from ..blobs.lifecycle import Blobs
from ..change_log import describe, file_values
from ..content.ingest import Incoming, Ingest, Limit
from ..files.files import insert_file, token_size_limit
from ..idempotency import IdempotentUpload, RecordedAnswer, find_recorded_answer, record_answer
from ..records import CollectionRecord, VersionRecord
from .rotation import collection_too_large, find_violated_guard, make_room, version_too_large
from .versions import delete_versions, lock_collection, select_with_files

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class AddedVersion:
    """A version that was accepted, and its collection as it is now."""

    version: VersionRecord
    collection: CollectionRecord


AnyRepeat: TypeAlias = IdempotentUpload[AddedVersion]


@dataclass(frozen=True, kw_only=True)
class _Written:
    added: AddedVersion
    evicted: Sequence[int]
    released_blob_ids: Sequence[int]


class AddVersion:
    """The use case of adding a version. Nothing leaves unless the new version is committed with it."""

    def __init__(
        self, database: Database, settings: Settings, plugins: PluginRegistry, ingest: Ingest, blobs: Blobs
    ) -> None:
        self._database = database
        self._plugins = plugins
        self._ingest = ingest
        self._blobs = blobs
        self._refuses_duplicates = settings.backup_duplicate_versions == "refuse"

    def add(
        self,
        collection: CollectionRecord,
        incoming: Incoming,
        *,
        by: Identity,
        after: int | None = None,
        idempotency: AnyRepeat | None = None,
        is_checked: bool = False,
    ) -> AddedVersion | RecordedAnswer:
        """Add a version. `after`: only if the last accepted one has this number; `idempotency`: see `IdempotentUpload`.

        `is_checked`: `check` was called for this upload before its content arrived.
        Raises `RuleError`, `TooBigError`, `TypeNotAllowedError`, `VersionConflictError` or `IdempotencyConflictError`,
        and then nothing has changed.
        """
        if idempotency is None and not is_checked:
            self.check(collection, incoming.declared_size or 0, after=after)
        with self._ingest.read(incoming, self.limits(collection, by=by)) as content:
            if not fits_token(by, content.mime):
                raise TypeNotAllowedError("Mime type not allowed", context={"mime": content.mime})
            with self._database.reading() as session:
                if recorded := find_recorded_answer(session, idempotency, content.digest, by):
                    return recorded

            def work(session: Session, blob: Blob) -> _Written | RecordedAnswer:
                row = lock_collection(session, collection.id)
                if recorded := find_recorded_answer(session, idempotency, content.digest, by):
                    return recorded
                consume_token(session, by)
                written = self._write(session, row, blob, after)
                record_answer(session, idempotency, content.digest, by, written.added, written.added.version.file)
                return written

            written = self._blobs.store(content, work)
        return written if isinstance(written, RecordedAnswer) else self._finish(collection, written, by)

    def _finish(self, collection: CollectionRecord, written: _Written, by: Identity) -> AddedVersion:
        """Collect the bytes of what went, and tell the log."""
        self._blobs.collect(written.released_blob_ids)
        version = written.added.version
        what = describe(file_values(version.file))
        log.info("collection %s: version %s added by %s: %s", collection.id, version.number, actor(by), what)
        for old in written.evicted:
            log.info("collection %s: version %s was removed for version %s", collection.id, old, version.number)
        log_consumed_token(by)
        return written.added

    def limits(self, collection: CollectionRecord, *, by: Identity) -> tuple[Limit, ...]:
        """Return the limits for the bytes of one version: the token's and the collection's."""
        return (
            token_size_limit(by),
            Limit(size=collection.limits.one, refuse=version_too_large),
            Limit(size=collection.limits.total, refuse=collection_too_large),
        )

    def check(self, collection: CollectionRecord, size: int, *, after: int | None) -> None:
        """Raise what refuses a version of so many bytes before its content is read; 0 for an unknown size.

        It is not for an upload that may be a repetition: that gets its answer, even if a new one is refused by now.
        """
        with self._database.reading() as session:
            _check_is_last(collection, after)
            incoming = IncomingVersion(size=size, created_at=utc_now())
            make_room(session, self._plugins, collection, incoming, is_final=False)

    def _write(self, session: Session, row: Collection, blob: Blob, after: int | None) -> _Written:
        now = utc_now()
        facts = CollectionRecord.of(row)
        _check_is_last(facts, after)
        if self._refuses_duplicates and _has_content(session, row.id, blob):
            raise RuleError(4008, "file", "backup_version_uploaded_twice")
        suspicion = find_violated_guard(session, facts, blob.size)
        incoming = IncomingVersion(size=blob.size, created_at=now)
        evicted = make_room(session, self._plugins, facts, incoming, suspicion=suspicion)
        ids = [version.id for version in evicted]
        gone = session.scalars(select_with_files().where(Version.collection_id == row.id, Version.id.in_(ids))).all()
        if len(gone) != len(evicted):
            raise RuntimeError(f"Of the versions to be removed, {len(evicted) - len(gone)} are not in the collection")
        released_blob_ids = delete_versions(session, row, gone)
        hit("evicted")
        row.last_number += 1
        row.versions_count += 1
        row.stored_size += blob.size
        name = version_name(row.filename, row.last_number)
        file = insert_file(session, blob, name=name, kind="version", public=False, password_hash=row.password_hash)
        version = Version(
            id=new_uuid4(),
            collection_id=row.id,
            number=row.last_number,
            file=file,
            created_at=now,
            is_suspicious=suspicion is not None,
        )
        session.add(version)
        session.flush()
        added = AddedVersion(version=VersionRecord.of(version), collection=CollectionRecord.of(row))
        numbers = [version.number for version in evicted]
        return _Written(added=added, evicted=numbers, released_blob_ids=released_blob_ids)


def _check_is_last(collection: CollectionRecord, number: int | None) -> None:
    if number is not None and number != collection.last_number:
        raise VersionConflictError(
            f"The last version is v{collection.last_number}, not v{number}: another came first",
            context={"last_version": collection.last_number},
        )


def _has_content(session: Session, collection_id: str, blob: Blob) -> bool:
    query = select(Version.id).join(File).where(Version.collection_id == collection_id, File.blob_id == blob.id)
    return session.scalar(query.limit(1)) is not None
