"""The use case of editing a plain file: its name, its tags, its visibility and its password."""

import logging
from collections.abc import Sequence
from dataclasses import asdict, field

from sqlalchemy import select, update
from sqlalchemy.orm import Session, joinedload

from frepo_core.db import Database
from frepo_core.db.models import Alias, File
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor
from frepo_core.domain.naming import ascii_name
from frepo_core.domain.permissions import allows
from frepo_core.domain.structs import struct
from frepo_core.errors import WrongPasswordError

from ..access.passwords import NO_READ_ACCESS, Passwords
from ..base.change_log import Changes, describe_changes, file_changes
from ..base.records import FileRecord
from ..events.facts import file_event
from ..events.recording import record
from .file_rows import FilePrecondition, file_not_found, find_or_insert_tags, free_stored_name
from .files import Files, NewFile

log = logging.getLogger(__name__)


@struct
class FileChange:
    """The requested values of a file. None keeps the value; an empty password removes it.

    `name` is the name as for an upload. The stored name, which is the file's address, is made from it.
    """

    name: str | None = None
    tags: Sequence[str] | None = None
    public: bool | None = None
    password: str | None = field(default=None, repr=False)


class FileEdits:
    """Edits files."""

    def __init__(self, database: Database, files: Files, passwords: Passwords) -> None:
        self._database = database
        self._files = files
        self._passwords = passwords

    def edit(
        self,
        name: str,
        change: FileChange,
        *,
        by: Identity,
        password: str = "",
        address: str = "",
        precondition: FilePrecondition = None,
    ) -> FileRecord:
        """Change the given values of a plain file, as an upload that overwrites it does.

        A renamed file has another address. Its aliases in the database follow. Who overwrites a file has its content:
        so an edit of a protected one needs its `password`, or the role to read any file.

        `precondition` is called with the locked file before the change; what it raises prevents the change.
        Raises `NotFoundError`, also for a version's file, `AccessDeniedError` without `security.overwrite`, and
        `WrongPasswordError`.
        """
        wanted = NewFile(name=name, tags=change.tags or (), password=change.password or "", overwrite=True)
        allowed_tags = self._files.check_rights(wanted, by=by)
        password_hash = self._passwords.hash(change.password or "")
        opened = self._open(name, password, by, address)

        def work(session: Session) -> tuple[FileRecord, Changes]:
            row = _lock(session, name)
            before = FileRecord.of(row)
            if row.password_hash != opened:  # another request has changed it meanwhile
                raise WrongPasswordError(NO_READ_ACCESS)
            if precondition:
                precondition(before)
            if change.name is not None and change.name != row.requested_name:
                _rename(session, row, change.name)
            if change.tags is not None:
                row.tags = find_or_insert_tags(session, allowed_tags)
            row.public = row.public if change.public is None else change.public
            row.password_hash = row.password_hash if change.password is None else password_hash
            session.flush()
            after = FileRecord.of(row)
            changes = file_changes(before, after)
            if changes.after:
                record(session, file_event(EventKind.FILE_EDITED, after, by=by, **asdict(changes)))
            return after, changes

        file, changes = self._database.write(work)
        log.info("file %s: edited by %s: %s", file.id, describe_actor(by), describe_changes(changes))
        return file

    def _open(self, name: str, password: str, by: Identity, address: str) -> str | None:
        """Return the hash of a file's password, which the caller has sent or does not need."""
        stored = self._files.find(name).password_hash
        if not allows("file.read_any", by) and not self._passwords.verify(password, stored, client=address):
            raise WrongPasswordError(NO_READ_ACCESS)
        return stored


def _lock(session: Session, name: str) -> File:
    query = select(File).where(File.stored_name == name, File.kind == "plain").options(joinedload(File.blob))
    row = session.scalar(query.with_for_update(of=File)) if "\0" not in name else None
    if row is None:
        raise file_not_found(name)
    return row


def _rename(session: Session, row: File, name: str) -> None:
    """Give the file another name, and its aliases in the database the stored name that follows from it."""
    if ascii_name(name) != ascii_name(row.requested_name):
        stored = free_stored_name(session, row.blob.digest, name)
        aliases = update(Alias).where(Alias.file == row.stored_name)
        session.execute(aliases.values(file=stored), execution_options={"synchronize_session": False})
        row.stored_name = stored
    row.requested_name = name
