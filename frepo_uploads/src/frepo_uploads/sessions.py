"""The use cases of uploads in parts: make one, take a part, commit, abort, and find out after a crash."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from frepo_core.errors import EmptyContentError
from frepo_core.plugins import EndpointError, FileInfo, FrepoError, Identity, PluginContext, StoredVersion

from .abort_counts import AbortCounts
from .admission import Admission
from .commits import Claims, Commits, Ready
from .disk.digests import Digests
from .disk.part_file import FileLostError, InUseError, PartFile, delete, is_in_use
from .disk.place import Place, default_folder, tag_of
from .hosts import Hosts
from .outcomes import outcome_of
from .receiving import NoPart, Part
from .refusals import Refusals
from .rooms import Rooms
from .session import COMMITS, TAKES_PARTS, BusyError, GoneError, State, Upload
from .settings import UploadsSettings
from .uploads import Uploads, now
from .web.tus_headers import CreationHead, PartHead

EXPIRED, ABORTED, LOST = "uploads.expired", "uploads.aborted", "uploads.lost"
RETRY_SECONDS = 5


class Sessions:
    """The uploads of a service. `context` is the plug-in's."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self.settings: UploadsSettings = context.settings
        self._digests = Digests()
        self._aborts = AbortCounts()
        self._admission = Admission(context)
        self.refusals = Refusals(context)
        service, chosen = context.service, self.settings.directory
        folder = chosen or default_folder(service.storage_folder, service.state_folder)
        self.place = Place(folder, tag=self.settings.host, storage=service.storage_folder)
        self.uploads = Uploads(self.place)
        self._rooms = Rooms(context, self._admission, self.uploads, self.place)
        self.hosts = Hosts(context, self.place, self.settings.expire)
        self.commits = Commits(context, self.uploads, self._digests, self.place)

    def find(self, upload: str) -> Upload | None:
        """Return an upload as it is, also after a crash during its commit; None if there is none.

        Raises `EndpointError` with 503 if another host has it, and `GoneError` if that host is gone.
        """
        found = self.uploads.find(upload)
        if found is None and (host := self.hosts.find_other(tag_of(upload))) is not None:
            if self.hosts.is_gone(host, now()):
                raise GoneError(f"The host {host.tag!r} is gone, and the upload with it: begin again")
            raise self._elsewhere(upload)
        return None if found is None else self._end_late(self.settle(found))

    def _end_late(self, upload: Upload) -> Upload:
        """End an upload whose token has expired too long ago, and return it."""
        if upload.place != self.place.id or not upload.is_late(now(), self.settings.expire):
            return upload
        with contextlib.suppress(BusyError):  # a part was acknowledged meanwhile
            self.end(upload, by=None, message=f"its token expired more than {self.settings.expire} ago", event=EXPIRED)
        return self.uploads.find(upload.id) or upload

    def require_here(self, upload: Upload) -> None:
        """Raise `EndpointError` with 503 if another host has the file of an open upload."""
        if upload.is_open and upload.place != self.place.id:
            raise self._elsewhere(upload.id)

    def _elsewhere(self, upload: str) -> EndpointError:
        tag, headers = tag_of(upload), {"Retry-After": str(RETRY_SECONDS)}
        text = f"The upload is on the host {tag!r}, which does not answer now"
        return EndpointError(503, text, headers=headers, context={"host": tag})

    def max_size(self, head: CreationHead, by: Identity) -> int | None:
        """Return the largest size of a new upload in bytes, None for no limit. Raises why it would be refused."""
        return self._admission.check(head.metadata, head.length, by, head.coding).max_size

    def create(self, head: CreationHead, by: Identity, announced: int | None = None) -> Upload:
        """Make an upload, with a first part of `announced` bytes if that is known.

        Raises `EndpointError`, and the errors of an ordinary upload that need no content.
        """
        if head.length == 0:
            raise EmptyContentError("The content is empty, there is nothing to store")
        start = self._admission.check(head.metadata, head.length, by, head.coding)
        began = now()
        self.hosts.note(self.uploads.count_open(self.place.tag) + 1, began)
        upload = Upload(
            id=self.place.new_id(),
            place=self.place.id,
            creator=by,
            collection_id=head.metadata.get("collection"),
            length=head.length,
            created_at=began,
            touched_at=began,
            metadata={key: value for key, value in head.metadata.items() if key in KEPT},
            commit_required=head.commit_required,
            last_number=start.last_number,
            key=head.key,
            coding=head.coding,
        )
        PartFile(self.place.folder, upload.id, offset=0, is_new=True).close()
        try:
            wanted = replace(upload, length=announced if head.length is None else head.length)
            given_way = self.uploads.add(upload, lambda others: self._rooms.make_way(wanted, others, start))
        except BaseException:
            delete(self.place.folder, upload.id)
            raise
        for each in given_way:
            self._ended(each, EXPIRED, None)
        return upload

    def limit_part(self, upload: Upload, head: PartHead, announced: int | None, by: Identity) -> int:
        """Return how many bytes a part may have. Raises an `EndpointError` if the upload does not take it.

        An upload that began without a length takes room when its parts arrive. `announced` is the size of this part in
        bytes, None if it is not known.
        """
        self.require_here(upload)
        known = upload.require_part(head.offset, head.length)
        if upload.length is not None:
            return upload.length - head.offset
        return self._rooms.limit_part(upload, known.length, announced, by)

    def open_part(self, upload: Upload, head: PartHead, identify: Callable[[], Identity]) -> Part | NoPart:
        """Open the body of a part. Raises an `EndpointError` if the upload does not take it.

        `identify` returns who sends it, now and when its body has ended.
        """
        self.require_here(upload)
        upload = upload.heard(now())
        known = upload.require_part(head.offset, head.length)
        if upload.state not in TAKES_PARTS:
            return NoPart(upload)
        by = identify()
        if upload.collection_id is None:
            self._admission.check(upload.metadata, None, by, upload.coding)
        else:  # the commit looks again at what else was found at the creation
            self._context.service.require_upload_right(upload.collection_id, by=by)
        file = self._open_file(upload)
        try:
            # What this part announces is written with its first bytes.
            if file.taken_over:
                known = replace(self.uploads.change(upload, epoch=upload.epoch + 1), length=known.length)
            stores = self.uploads, self._digests, self.refusals, self._rooms
            ends_at = known.last_end(self.settings.expire)
            return Part(*stores, known, file, checksum=head.checksum, identify=identify, ends_at=ends_at)
        except BaseException:
            file.close()
            raise

    def ready(self, upload: Upload, claims: Claims) -> Ready:
        """Lock a complete upload for its commit. Raises an `EndpointError` if it is not complete, or locked."""
        self.require_here(upload)
        whole = upload.require_commit(claims.size if upload.coding is None else claims.sent_size)
        file = self._open_file(upload)
        try:
            committing = self.uploads.change(upload, State.COMMITTING, length=whole.length, touched_at=now())
            return Ready(upload=committing, file=file)
        except BaseException:
            file.close()
            raise

    def fail(self, upload: Upload, claims: Claims, by: Identity) -> Upload:
        """End an upload whose command has failed at the client, and record that run."""
        self.commits.record_failed_run(upload, claims, "", by)
        statuses = list(claims.run.exit_statuses) if claims.run else []
        outcome = {"message": "The command of the client has failed", "exit_statuses": statuses}
        failed = self.uploads.change(upload, State.FAILED, ended_at=now(), outcome=outcome)
        self.clear(failed)
        return failed

    def end(self, upload: Upload, *, by: Identity | None, message: str = "", event: str = ABORTED) -> None:
        """End an open upload, by its client, an administrator or a job. Raises `BusyError` while it is committed."""
        state = State.ABORTED if event == ABORTED else State.EXPIRED
        self._ended(self.uploads.end(upload, state, message), event, by)

    def end_expired(self, moment: datetime) -> int:
        """End the uploads in this folder that have waited too long for a part at a time in UTC; return how many."""
        count = 0
        for found in self.uploads.all_open():
            upload = self.settle(found)
            if upload.is_open and upload.state not in COMMITS and self.expires_at(upload) <= moment:
                with contextlib.suppress(BusyError):  # a part has come just now
                    self.end(upload, by=None, message=f"no part came for {self.settings.expire}", event=EXPIRED)
                    count += 1
        return count

    def end_revoked(self, uploads: Sequence[Upload]) -> int:
        """End those of these uploads whose token was revoked; return how many."""
        count = 0
        for upload in uploads:
            ends = upload.is_open and upload.state not in COMMITS and upload.place == self.place.id
            if ends and self._context.service.is_revoked(upload.creator):
                with contextlib.suppress(BusyError):  # it is ended next time
                    self.end(upload, by=None, message="its token was revoked")
                    count += 1
        return count

    def note_host(self, moment: datetime) -> None:
        """Note that this host is there, as long as it has uploads: their outcomes are kept for a day."""
        if self.uploads.has_any(self.place.tag):
            self.hosts.note(self.uploads.count_open(self.place.tag), moment)
        else:
            self.hosts.note_none(moment)

    def held_bytes(self) -> int:
        """Return how many bytes the open uploads in this folder have received."""
        return sum(each.offset for each in self.uploads.all_open())

    def _ended(self, upload: Upload, event: str, by: Identity | None) -> None:
        """Record the end of an upload without a version, and delete its file."""
        message = (upload.outcome or {}).get("message") or str(upload.state)
        self._context.log.info("upload %s ends after %d bytes: %s", upload.id, upload.offset, message)
        self.clear(upload)
        data = {"received": upload.offset, "size": upload.length, "message": message}
        if event == ABORTED and by is not None:
            data["count"] = self._aborts.take((by.fingerprint, upload.collection_id), now())
            if not data["count"]:
                return
        try:
            self._context.service.store.transaction(
                lambda tx: tx.record_event(event, by=by, collection_id=upload.collection_id, data=data)
            )
        except FrepoError as error:  # the database does not answer; the upload has ended all the same
            self._context.log.error("the event about the end of upload %s is lost: %s", upload.id, error)

    def clear(self, upload: Upload) -> None:
        """Forget what this process knows of an upload, and delete its file if it is in this folder."""
        self._digests.forget(upload.id)
        if upload.place == self.place.id:
            delete(self.place.folder, upload.id)

    def expires_at(self, upload: Upload) -> datetime:
        """Return when an upload ends without a further part, in UTC."""
        return upload.expires_at(self.settings.expire)

    def _open_file(self, upload: Upload) -> PartFile:
        try:
            return PartFile(self.place.folder, upload.id, offset=upload.offset)
        except InUseError:
            raise BusyError(409, "Another request sends a part of this upload now", retry_after=2) from None
        except FileLostError:
            raise self._lose(upload) from None

    def _lose(self, upload: Upload) -> GoneError:
        self._context.log.error("upload %s: its file is missing, or shorter than what was acknowledged", upload.id)
        self.end(upload, by=None, message="its file was lost on the disk of the service", event=LOST)
        return GoneError("The file of the upload was lost on the disk of the service: begin again")

    def settle(self, upload: Upload) -> Upload:
        """Find out what became of an upload whose commit nobody runs any more, because its process has ended."""
        if upload.state is not State.COMMITTING or upload.place != self.place.id:
            return upload
        if self.commits.running(upload.id) or is_in_use(self.place.folder, upload.id):
            return upload
        upload = self.uploads.find(upload.id) or upload  # it may have been finished meanwhile
        if upload.state is not State.COMMITTING:
            return upload
        if (stored := self._find_stored(upload)) is not None:
            return self.commits.finish(upload, outcome_of(stored))
        return self.uploads.change(upload, State.COMPLETE if upload.commit_required else State.RECEIVING)

    def _find_stored(self, upload: Upload) -> StoredVersion | FileInfo | None:
        """Return what the commit of an upload that broke off has stored; None if nothing."""
        if upload.digest is None:
            return None
        service, what = self._context.service, {"sha256": upload.digest, "idempotency_key": upload.id}
        if upload.collection_id is None:
            return service.find_added_file(by=upload.creator, **what)
        return service.find_added_version(upload.collection_id, by=upload.creator, **what)


KEPT = frozenset({"collection", "filename", "tags", "public", "filetype", "note"})
