"""The write path of one plain file."""

import contextlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import asdict, field

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Content as ContentRow
from frepo_core.db.models import File
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor
from frepo_core.domain.structs import struct
from frepo_core.errors import TooManyAttemptsError

from ..access.passwords import Passwords
from ..access.single_upload_tokens import consume_token, log_consumed_token
from ..base.change_log import Changes, describe_changes, describe_file, file_changes
from ..base.idempotency import IdempotentUpload, RecordedAnswer
from ..base.records import BlobRecord, FileRecord
from ..content.blobs.lifecycle import Blobs
from ..content.blobs.upload_transaction import Room, UploadTransaction
from ..content.ingest import Content
from ..events.facts import file_event
from ..events.recording import NewEvent, record
from ..events.refusals import REFUSALS, describe_refusal
from .file_rows import find_or_insert_tags, insert_file

log = logging.getLogger(__name__)

CANDIDATES = 20
_FILE, _CONTENT = File.__table__, ContentRow.__table__
_SAME_CONTENT = (
    select(_FILE.c.id, _FILE.c.password_hash)
    .join(_CONTENT, _CONTENT.c.id == _FILE.c.content_id)
    .where(_CONTENT.c.digest == bindparam("digest"), _FILE.c.kind == "plain")
    .limit(CANDIDATES)
)
_TO_OVERWRITE = _SAME_CONTENT.order_by(_FILE.c.requested_name != bindparam("name"), _FILE.c.id)
_PROTECTED = _SAME_CONTENT.where(_FILE.c.password_hash.is_not(None)).order_by(_FILE.c.id)
_OPEN = _SAME_CONTENT.where(_FILE.c.password_hash.is_(None)).order_by(_FILE.c.id)


@struct
class NewFile:
    """The requested values of an uploaded file; name and tags are validated already."""

    name: str
    tags: Sequence[str] = ()
    public: bool = False
    password: str = field(default="", repr=False)
    overwrite: bool = False


@struct
class AddedFile:
    """The result of an upload. `existed` says that an existing file with the same content is returned.

    `changes` is what an overwrite has changed.
    """

    file: FileRecord
    existed: bool
    changes: Changes | None = None


@struct
class _ExistingFile:
    id: int
    password_hash: str | None = field(repr=False)


class FileUpload(UploadTransaction[AddedFile]):
    """The upload of a plain file. Call `find_same_content` before `store`."""

    def __init__(
        self,
        blobs: Blobs,
        passwords: Passwords,
        content: Content,
        room: Room,
        *,
        new: NewFile,
        tags: Sequence[str],
        by: Identity,
        idempotency: IdempotentUpload[AddedFile] | None,
    ) -> None:
        super().__init__(blobs, content, room, storage=None, by=by, idempotency=idempotency)
        self._passwords = passwords
        self._new = new
        self._tags = tags
        self._existing: _ExistingFile | None = None
        self._password_hash: str | None = None

    def find_same_content(self) -> None:
        """Look for a file with the same content, which is returned or overwritten, and hash the password.

        To be returned, a file must be readable with the uploader's password. Of several files to overwrite, the one
        with the upload's name is chosen, else the oldest. Passwords are compared here, outside the write transaction,
        as a hash costs about 30 ms. An uploader with too many wrong passwords gets a new file.
        """
        new, database = self._new, self._blobs.database
        self._blob_write.expects_no_row = self._blob_write.find_row() is None
        if not self._blob_write.is_unknown:
            query = _TO_OVERWRITE if new.overwrite else _PROTECTED if new.password else _OPEN
            for row in database.fetch_rows(query, digest=self.content.digest, name=new.name):
                if new.overwrite or self._has_password(row.password_hash):
                    self._existing = _ExistingFile(id=row.id, password_hash=row.password_hash)
                    break
        self._password_hash = self._passwords.hash(new.password)

    def write_rows(self, session: Session, blob: BlobRecord) -> AddedFile | RecordedAnswer:
        """Insert the file, or use the existing one. Raises `AccessDeniedError` if the token was used up or revoked."""
        if recorded := self.find_recorded_now(session, blob):
            return recorded
        consume_token(session, self.by)
        blob = self.want_copy(session, blob, None)
        added = self._insert_or_use(session, blob)
        record(session, *_events(added, self.by))
        self.record_answer(session, added, added.file)
        return added

    def _insert_or_use(self, session: Session, blob: BlobRecord) -> AddedFile:
        """Insert the file's row, or use the existing one, unless its password was changed meanwhile."""
        new, existing = self._new, self._existing
        row = session.get(File, existing.id, with_for_update=True) if existing else None
        if row and existing and (new.overwrite or row.password_hash == existing.password_hash):
            before = FileRecord.of(row, blob)
            if not new.overwrite:
                return AddedFile(file=before, existed=True)
            row.public, row.password_hash = new.public, self._password_hash
            row.tags = find_or_insert_tags(session, self._tags)
            session.flush()
            after = FileRecord.of(row, blob)
            return AddedFile(file=after, existed=True, changes=file_changes(before, after))
        file = insert_file(
            session,
            blob,
            name=new.name,
            kind="plain",
            public=new.public,
            password_hash=self._password_hash,
            at=utc_now(),
            tags=find_or_insert_tags(session, self._tags),
        )
        return AddedFile(file=file, existed=False)

    def _has_password(self, stored: str | None) -> bool:
        try:
            return self._passwords.verify(self._new.password, stored, client=self.by.fingerprint)
        except TooManyAttemptsError:
            return False


def _events(added: AddedFile, by: Identity) -> list[NewEvent]:
    """Return the events about an upload. One that changes nothing has none."""
    file, changes = added.file, added.changes
    if not added.existed:
        more = {"tags": list(file.tags), "public": file.public, "has_password": file.password_hash is not None}
        return [file_event(EventKind.FILE_ADDED, file, by=by, **more)]
    if changes is None or not changes.after:
        return []
    return [file_event(EventKind.FILE_EDITED, file, by=by, **asdict(changes))]


def log_upload(added: AddedFile, by: Identity) -> None:
    """Log what an upload has changed."""
    file, what = added.file, describe_file(added.file)
    if added.changes is not None:
        log.info("file %s: overwritten by %s: %s", file.id, describe_actor(by), describe_changes(added.changes))
    elif added.existed:
        log.info("file %s: uploaded again by %s: %s", file.id, describe_actor(by), what)
    else:
        log.info("file %s: added by %s: %s", file.id, describe_actor(by), what)
    if by.ends_with_upload:
        log_consumed_token(by)


@contextlib.contextmanager
def logged_refusal(name: str | None, *, by: Identity) -> Iterator[None]:
    """Log a refusal that the body of the `with` statement raises, but not one of `frepo`: it prints errors itself."""
    try:
        yield
    except REFUSALS as error:
        if by.token:
            log.warning(
                "file %r: an upload by %s was refused: %s", name or "", describe_actor(by), describe_refusal(error)
            )
            error.is_logged = True
        raise
