"""The use cases of plain files: add, overwrite, find and delete them."""

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session, joinedload

from frepo_core.db import Database
from frepo_core.db.models import Blob, File
from frepo_core.domain.access import allows, forbids_password, may_upload
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor
from frepo_core.domain.sizes import format_size
from frepo_core.errors import (
    AccessDeniedError,
    FieldsError,
    TooBigError,
    TooManyAttemptsError,
    TypeNotAllowedError,
    WrongPasswordError,
)

from ..access.passwords import Passwords
from ..access.tokens import consume_token, log_consumed_token
from ..base.change_log import Changes, describe, describe_changes, file_changes, file_values
from ..base.idempotency import IdempotentUpload, RecordedAnswer, find_recorded_answer, look_up_answer, record_answer
from ..base.records import WITH_BLOB, BlobRecord, FileRecord
from ..content.blobs.lifecycle import Blobs, Room
from ..content.checks.spooled_content import UploadTarget
from ..content.checks.upload_checks import UploadChecks, log_findings
from ..content.ingest import Content, Incoming, Ingest, Limit, Limits, RoomLimit
from ..events.facts import file_event
from ..events.recording import NewEvent, record
from .file_rows import FilePrecondition, file_not_found, find_or_insert_tags, insert_file
from .upload_refusals import logged_refusal
from .upload_tags import may_give_tags, tags_of_upload

log = logging.getLogger(__name__)

UPLOAD_REFUSED = "No enough permissions on the token to perform the operation: "
CANDIDATES = 20
_FILE, _BLOB = File.__table__, Blob.__table__
_SAME_CONTENT = (
    select(_FILE.c.id, _FILE.c.password_hash)
    .join(_BLOB, _BLOB.c.id == _FILE.c.blob_id)
    .where(_BLOB.c.digest == bindparam("digest"), _FILE.c.kind == "plain")
    .limit(CANDIDATES)
)
_TO_OVERWRITE = _SAME_CONTENT.order_by(_FILE.c.requested_name != bindparam("name"), _FILE.c.id)
_PROTECTED = _SAME_CONTENT.where(_FILE.c.password_hash.is_not(None)).order_by(_FILE.c.id)
_OPEN = _SAME_CONTENT.where(_FILE.c.password_hash.is_(None)).order_by(_FILE.c.id)
_BY_NAME = WITH_BLOB.where(_FILE.c.stored_name == bindparam("name"))


@dataclass(frozen=True, kw_only=True)
class NewFile:
    """The requested values of an uploaded file; name and tags are validated already."""

    name: str
    tags: Sequence[str] = ()
    public: bool = False
    password: str = field(default="", repr=False)
    overwrite: bool = False


@dataclass(frozen=True, kw_only=True)
class AddedFile:
    """The result of an upload. `existed` says that an existing file with the same content is returned.

    `changes` is what an overwrite has changed.
    """

    file: FileRecord
    existed: bool
    changes: Changes | None = None


@dataclass(frozen=True, kw_only=True)
class _ExistingFile:
    id: int
    password_hash: str | None = field(repr=False)


class Files:
    """Manages plain files."""

    def __init__(
        self,
        database: Database,
        ingest: Ingest,
        blobs: Blobs,
        passwords: Passwords,
        checks: UploadChecks,
        room: Room,
    ) -> None:
        self._database = database
        self._ingest = ingest
        self._blobs = blobs
        self._passwords = passwords
        self._checks = checks
        self._room = room

    def add(
        self, new: NewFile, incoming: Incoming, *, by: Identity, idempotency: IdempotentUpload[AddedFile] | None = None
    ) -> AddedFile | RecordedAnswer:
        """Add a file, or return an existing one with the same content that the uploader could read.

        If an answer was recorded for the same Idempotency-Key, that is returned.
        Raises `AccessDeniedError` before the content is read, `TooBigError` while it is read, and `TypeNotAllowedError`
        or `UploadCheckError` afterwards.
        """
        tags = self.check_rights(new, by=by)
        limits: Limits = (*self.limits(by=by), RoomLimit(self._room.check))
        with logged_refusal(new.name, by=by), self._ingest.read(incoming, limits) as content:
            if not may_upload(by, content.mime):
                raise type_not_allowed(content.mime)
            recorded = look_up_answer(self._database, idempotency, content.digest, by)
            if recorded and not recorded.is_damaged:
                return recorded
            reports = [] if recorded else self._checks.run(content, UploadTarget(file_name=new.name))
            is_new = not self._blobs.is_known(content)
            known = None if is_new else self._find_same_content(content, new, by)
            password_hash = self._passwords.hash(new.password)

            unused: list[int] = []

            def work(session: Session, blob: BlobRecord) -> AddedFile | RecordedAnswer:
                if recorded := find_recorded_answer(session, idempotency, content.digest, by):
                    unused.append(blob.id)  # the file that used it may have been deleted
                    return recorded
                consume_token(session, by)
                added = _write_rows(session, blob, new, tags, password_hash, known)
                record(session, *_events(added, by))
                record_answer(session, idempotency, content.digest, by, added, added.file)
                return added

            added = self._blobs.store(content, work, by=by, is_new=is_new, room=self._room)
        if isinstance(added, AddedFile):
            _log(added, by)
            log_findings(f"file {added.file.id}", reports)
        else:
            self._blobs.collect(unused)
        return added

    def limits(self, *, by: Identity) -> tuple[Limit, ...]:
        """Return the limits for the size of one file."""
        return (token_size_limit(by),)

    def check_rights(self, new: NewFile, *, by: Identity) -> list[str]:
        """Return the tags that the file gets; raises `AccessDeniedError` with the reason at its end."""
        if not allows("file.upload", by):
            raise _refusal("upload_not_allowed")
        if new.overwrite and not allows("file.overwrite", by):
            raise _refusal("overwrite_not_allowed")
        if new.password and forbids_password(by):
            raise _refusal("invalid_password")
        if not may_give_tags(new.tags, by):
            raise _refusal("tag_not_allowed")
        return tags_of_upload(new.tags, by)

    def find(self, name: str) -> FileRecord:
        """Return a file, plain or a version's, by its stored name. Raises `NotFoundError`."""
        # One statement for file and blob: both could be deleted before a second one.
        query = select(File).where(File.stored_name == name).options(joinedload(File.blob))
        with self._database.reading() as session:
            # PostgreSQL refuses NUL in a text, even in a condition.
            row = session.scalar(query) if "\0" not in name else None
            if row is None:
                raise file_not_found(name)
            return FileRecord.of(row)

    def find_for_download(self, name: str) -> FileRecord:
        """Return the same as `find` at half the cost, but without tags."""
        rows = self._database.fetch_rows(_BY_NAME, name=name) if "\0" not in name else ()
        if not rows:
            raise file_not_found(name)
        return FileRecord.of_row(rows[0])

    def delete(
        self, name: str, password: str, *, by: Identity, address: str = "", precondition: FilePrecondition = None
    ) -> None:
        """Delete a plain file, and its blob if no other file uses it.

        `precondition` is called with the locked file before it is deleted; what it raises prevents the deletion. Raises
        `NotFoundError`, `AccessDeniedError`, and `FieldsError` for the file of a version.
        """
        file = self.find(name)
        if file.is_version:
            raise FieldsError({"name": ["This file belongs to a version, delete the version instead"]})
        if not allows("file.delete_any", by) and not (
            file.password_hash and self._passwords.check(password, file.password_hash, client=address)
        ):
            kind = WrongPasswordError if file.password_hash else AccessDeniedError
            raise kind("No access to delete the file, maybe invalid password?")

        def work(session: Session) -> None:
            row = session.scalar(select(File).where(File.id == file.id).with_for_update())
            if row is not None:
                if precondition:
                    precondition(FileRecord.of(row))
                session.delete(row)
                record(session, file_event(EventKind.FILE_DELETED, file, by=by))

        self._database.write(work, may_use_reserve=True)
        log.info("file %s: deleted by %s: %s", file.id, describe_actor(by), describe(file_values(file)))
        self._blobs.collect([file.blob.id])

    def _find_same_content(self, content: Content, new: NewFile, by: Identity) -> _ExistingFile | None:
        """Return an existing file with the same content that the upload returns or overwrites, or None.

        To be returned, a file must be readable with the uploader's password. Of several files to overwrite, the one
        with the upload's name is chosen, else the oldest. Passwords are compared here, outside the write transaction,
        as a hash costs about 30 ms. An uploader with too many wrong passwords gets a new file.
        """
        query = _TO_OVERWRITE if new.overwrite else _PROTECTED if new.password else _OPEN
        for row in self._database.fetch_rows(query, digest=content.digest, name=new.name):
            if new.overwrite or self._has_password(new.password, row.password_hash, by):
                return _ExistingFile(id=row.id, password_hash=row.password_hash)
        return None

    def _has_password(self, password: str, stored: str | None, by: Identity) -> bool:
        try:
            return self._passwords.check(password, stored, client=by.fingerprint)
        except TooManyAttemptsError:
            return False


def _write_rows(
    session: Session,
    blob: BlobRecord,
    new: NewFile,
    tags: Sequence[str],
    password_hash: str | None,
    known: _ExistingFile | None,
) -> AddedFile:
    """Insert the file's row, or use the existing one, unless its password was changed meanwhile."""
    row = session.get(File, known.id, with_for_update=True) if known else None
    if row and known and (new.overwrite or row.password_hash == known.password_hash):
        before = FileRecord.of(row, blob)
        if not new.overwrite:
            return AddedFile(file=before, existed=True)
        row.public, row.password_hash, row.tags = new.public, password_hash, find_or_insert_tags(session, tags)
        session.flush()
        after = FileRecord.of(row, blob)
        return AddedFile(file=after, existed=True, changes=file_changes(before, after))
    file = insert_file(
        session,
        blob,
        name=new.name,
        kind="plain",
        public=new.public,
        password_hash=password_hash,
        tags=find_or_insert_tags(session, tags),
    )
    return AddedFile(file=file, existed=False)


def _events(added: AddedFile, by: Identity) -> list[NewEvent]:
    """Return the events about an upload. One that changes nothing has none."""
    file, changes = added.file, added.changes
    if not added.existed:
        more = {"tags": list(file.tags), "public": file.public, "has_password": file.password_hash is not None}
        return [file_event(EventKind.FILE_ADDED, file, by=by, **more)]
    if changes is None or not changes.after:
        return []
    return [file_event(EventKind.FILE_EDITED, file, by=by, **asdict(changes))]


def _refusal(reason: str) -> AccessDeniedError:
    return AccessDeniedError(UPLOAD_REFUSED + reason, code_name=reason)


def _log(added: AddedFile, by: Identity) -> None:
    """Log what an upload has changed."""
    file, what = added.file, describe(file_values(added.file))
    if added.changes is not None:
        log.info("file %s: overwritten by %s: %s", file.id, describe_actor(by), describe_changes(added.changes))
    elif added.existed:
        log.info("file %s: uploaded again by %s: %s", file.id, describe_actor(by), what)
    else:
        log.info("file %s: added by %s: %s", file.id, describe_actor(by), what)
    log_consumed_token(by)


def type_not_allowed(mime: str) -> TypeNotAllowedError:
    """Return the error for a content of a type that the token does not allow."""
    return TypeNotAllowedError("Mime type not allowed", context={"mime": mime})


def token_size_limit(identity: Identity) -> Limit:
    """Return the token's limit for the size of one file."""
    return Limit(
        size=identity.max_file_size,
        refuse=lambda: TooBigError("File size is too big", context={"max": format_size(identity.max_file_size)}),
    )
