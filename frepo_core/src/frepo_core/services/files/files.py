"""The use cases of plain files: add, overwrite, find and delete them."""

import logging
from collections.abc import Sequence

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session, joinedload

from frepo_core.db import Database
from frepo_core.db.models import File
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor
from frepo_core.domain.permissions import allows, enforces_tags, forbids_password
from frepo_core.errors import (
    AccessDeniedError,
    FieldsError,
    WrongPasswordError,
)

from ..access.passwords import Passwords
from ..base.change_log import describe_file
from ..base.idempotency import IdempotentUpload, RecordedAnswer
from ..base.records import WITH_BLOB, FileRecord
from ..content.blobs.lifecycle import Blobs
from ..content.blobs.upload_transaction import Room
from ..content.checks.spooled_content import UploadTarget
from ..content.checks.upload_checks import UploadChecks, log_findings
from ..content.ingest import Incoming, Ingest, Limit, Limits, RoomLimit
from ..content.objects.damage import mark_lost_files
from ..content.token_limits import check_type_of_file, token_size_limit
from ..events.facts import file_event
from ..events.recording import record
from .file_rows import FilePrecondition, file_not_found
from .file_upload import AddedFile, FileUpload, NewFile, log_upload, logged_refusal

__all__ = ["AddedFile", "Files", "NewFile"]

log = logging.getLogger(__name__)

UPLOAD_REFUSED = "No enough permissions on the token to perform the operation: "
_FILE = File.__table__
_BY_NAME = WITH_BLOB.where(_FILE.c.stored_name == bindparam("name"))


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
        limits: Limits = (*self.limits(by=by), RoomLimit(self._room.require_room))
        with logged_refusal(new.name, by=by), self._ingest.read(incoming, limits) as content:
            check_type_of_file(by, content.mime)
            upload = FileUpload(
                self._blobs, self._passwords, content, self._room, new=new, tags=tags, by=by, idempotency=idempotency
            )
            with upload:
                if recorded := upload.find_recorded():
                    return recorded
                reports = [] if upload.is_repetition else self._checks.run(content, UploadTarget(file_name=new.name))
                upload.find_same_content()
                upload.store()
                added = upload.write()
        self._blobs.collect(upload.unused)
        if isinstance(added, AddedFile):
            log_upload(added, by)
            log_findings(f"file {added.file.id}", reports)
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
            return mark_lost_files(session, [FileRecord.of(row)])[0]

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
            file.password_hash and self._passwords.verify(password, file.password_hash, client=address)
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
        log.info("file %s: deleted by %s: %s", file.id, describe_actor(by), describe_file(file))
        self._blobs.collect([file.blob.id])


def _refusal(reason: str) -> AccessDeniedError:
    return AccessDeniedError(UPLOAD_REFUSED + reason, code_name=reason)


def may_give_tags(tags: Sequence[str], by: Identity) -> bool:
    """Return whether a token may upload a file with these tags: if it has tags and enforces none, only with its own."""
    return enforces_tags(by) or not by.tags or set(tags) <= set(by.tags)


def tags_of_upload(tags: Sequence[str], by: Identity) -> list[str]:
    """Return the tags that the file gets, each once: those of a token that enforces them, else the requested ones."""
    return list(by.tags) if enforces_tags(by) else list(dict.fromkeys(tags))
