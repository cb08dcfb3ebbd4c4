"""The use case of editing a plain file: its tags, its visibility and its password."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from frepo_core.db import Database
from frepo_core.db.models import File
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor

from ..access.passwords import Passwords
from ..change_log import Changes, describe_changes, file_changes
from ..events.facts import file_event
from ..events.recording import record
from ..records import FileRecord
from .file_rows import find_or_insert_tags
from .files import Files, NewFile, file_not_found

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """The requested values of a file. None keeps the value; an empty password removes it."""

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
        precondition: Callable[[FileRecord], None] | None = None,
    ) -> FileRecord:
        """Change the given values of a plain file, as an upload that overwrites it does.

        `precondition` is called with the locked file before the change; what it raises prevents the change.
        Raises `NotFoundError`, also for a version's file, and `AccessDeniedError` without `security.overwrite`.
        """
        wanted = NewFile(name=name, tags=change.tags or (), password=change.password or "", overwrite=True)
        allowed_tags = self._files.check_rights(wanted, by=by)
        password_hash = self._passwords.hash(change.password or "")

        def work(session: Session) -> tuple[FileRecord, Changes]:
            row = _lock(session, name)
            before = FileRecord.of(row)
            if precondition:
                precondition(before)
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


def _lock(session: Session, name: str) -> File:
    query = select(File).where(File.stored_name == name, File.kind == "plain").options(joinedload(File.blob))
    row = session.scalar(query.with_for_update(of=File)) if "\0" not in name else None
    if row is None:
        raise file_not_found()
    return row
