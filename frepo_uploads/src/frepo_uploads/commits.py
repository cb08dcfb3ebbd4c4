"""Commits a complete upload: the one write path of the service, with an outcome that is told again."""

import threading
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, BinaryIO

from frepo_core.errors import DigestMismatchError
from frepo_core.plugins import (
    FileInfo,
    FrepoError,
    Identity,
    NewRun,
    PluginContext,
    SessionFile,
    StoredVersion,
)

from .disk.digests import Digests
from .disk.part_file import PartFile, delete
from .disk.place import Place
from .outcomes import describe_refusal, is_refusal, outcome_of
from .session import State, Upload
from .uploads import Uploads, now


@dataclass(frozen=True, kw_only=True)
class Claims:
    """What the client says about its upload when it asks for the commit. None: nothing.

    `sha256` and `size` are of the content, `sent_size` is of what was sent.
    """

    sha256: str | None = None
    size: int | None = None
    sent_size: int | None = None
    run: NewRun | None = None

    @property
    def has_failed(self) -> bool:
        """Whether a command of the client has failed."""
        return self.run is not None and self.run.has_failed


@dataclass(frozen=True, kw_only=True)
class Ready:
    """An upload that is `committing`, and its locked file."""

    upload: Upload
    file: PartFile


class Commits:
    """Commits uploads. One commit runs in a thread of its own, which the request waits for."""

    def __init__(self, context: PluginContext, uploads: Uploads, digests: Digests, place: Place) -> None:
        self._service = context.service
        self._log = context.log
        self._uploads = uploads
        self._digests = digests
        self._place = place
        self._running: dict[str, Future[Upload]] = {}
        self._lock = threading.Lock()
        self._hashed: dict[str, int] = {}

    def running(self, upload: str) -> "Future[Upload] | None":
        """Return the commit of an upload that this process runs; None if it runs none."""
        with self._lock:
            return self._running.get(upload)

    def hashed(self, upload: str) -> int | None:
        """Return how many bytes a running commit has hashed; None if it does not hash."""
        return self._hashed.get(upload)

    def start(self, ready: Ready, *, by: Identity, claims: Claims) -> "Future[Upload]":
        """Commit an upload that is `committing`, in a thread of its own."""
        future: Future[Upload] = Future()
        with self._lock:
            self._running[ready.upload.id] = future
        name = f"frepo-commit-{ready.upload.id}"
        threading.Thread(target=self._run, args=(future, ready, by, claims), name=name, daemon=True).start()
        return future

    def _run(self, future: "Future[Upload]", ready: Ready, by: Identity, claims: Claims) -> None:
        try:
            done: Upload | BaseException = self._commit(ready, by, claims)
        except BaseException as error:  # noqa: BLE001  # the request that waits raises it
            done = error
        finally:
            ready.file.close()
            with self._lock:
                self._running.pop(ready.upload.id, None)
            self._hashed.pop(ready.upload.id, None)
        if isinstance(done, BaseException):
            future.set_exception(done)
        else:
            future.set_result(done)

    def _commit(self, ready: Ready, by: Identity, claims: Claims) -> Upload:
        upload, file = ready.upload, ready.file
        progress = partial(self._note_progress, upload.id)
        try:
            sums = self._digests.complete(upload, file, progress) if upload.coding is None else None
            digest = sums.digest if sums else claims.sha256
            upload = self._uploads.change(upload, digest=digest, touched_at=now())
            self._check(upload, claims, by)
            if sums:
                with SessionFile(file.path, sums) as content:
                    stored = self._store(upload, content, by, claims, size=upload.length)
            else:
                stored = self._store_decoded(upload, file.stream(upload.length or 0, progress), by, claims)
        except FrepoError as error:
            if is_refusal(error):
                self._refuse(upload, error)
            else:
                self._take_back(upload, error)
            raise
        except BaseException as error:
            self._take_back(upload, error)
            raise
        return self.finish(upload, outcome_of(stored))

    def _note_progress(self, upload: str, done: int) -> None:
        self._hashed[upload] = done

    def _store_decoded(
        self, upload: Upload, content: BinaryIO, by: Identity, claims: Claims
    ) -> "StoredVersion | FileInfo":
        """Store what the file contains. The service compares it with the digest and the size."""
        try:
            return self._store(upload, content, by, claims, size=claims.size, sha256=claims.sha256)
        except DigestMismatchError as error:
            if claims.run is None:  # otherwise the service has recorded it
                self.record_failed_run(upload, claims, error.message, by)
            raise

    def finish(self, upload: Upload, outcome: dict[str, Any]) -> Upload:
        """Note what was stored, and delete the file."""
        done = self._uploads.change(upload, State.COMMITTED, offset=upload.length or 0, ended_at=now(), outcome=outcome)
        self._digests.forget(upload.id)
        delete(self._place.folder, upload.id)
        return done

    def _check(self, upload: Upload, claims: Claims, by: Identity) -> None:
        """Refuse another digest or size, and record that the client's run has failed.

        What a compressed upload contains is not known yet.
        """
        problem, sent = "", claims.size if upload.coding is None else claims.sent_size
        if sent not in {None, upload.length}:
            problem = f"The client has sent {upload.length} bytes, and says that it has sent {sent}"
        elif claims.sha256 not in {None, upload.digest}:
            problem = "The content does not match the digest that was sent with it"
        if not problem:
            return
        self.record_failed_run(upload, claims, problem, by)
        raise DigestMismatchError(problem, context={"sha256": upload.digest, "size": upload.length})

    def record_failed_run(self, upload: Upload, claims: Claims, problem: str, by: Identity) -> None:
        """Record that the client's command has failed. A plain file has no runs."""
        if upload.collection_id is None:
            return
        run = claims.run or NewRun(outcome="failed")
        output = "\n".join(text for text in (run.error_output, problem) if text)
        failed = replace(run, outcome="failed", error_output=output, stored_nothing=True)
        self._service.record_run(upload.collection_id, failed, by=by)

    def _store(
        self, upload: Upload, content: BinaryIO, by: Identity, claims: Claims, **said: Any
    ) -> "StoredVersion | FileInfo":
        if upload.collection_id is not None:
            return self._service.add_version(
                upload.collection_id,
                content,
                by=by,
                last_number=upload.last_number,
                began_at=upload.created_at,
                silent_since=upload.silent_since,
                run=claims.run,
                idempotency_key=upload.id,
                coding=upload.coding,
                **said,
            )
        fields = upload.metadata
        return self._service.upload_file(
            content,
            fields["filename"],
            by=by,
            tags=tuple(fields.get("tags", "").split(",")) if fields.get("tags") else (),
            public=fields.get("public") == "true",
            idempotency_key=upload.id,
            coding=upload.coding,
            **said,
        )

    def _refuse(self, upload: Upload, error: FrepoError) -> None:
        """End the upload: the service does not take this content, however often it is sent."""
        outcome = describe_refusal(error)
        self._uploads.change(upload, State.FAILED, ended_at=now(), outcome=outcome)
        self._digests.forget(upload.id)
        delete(self._place.folder, upload.id)

    def _take_back(self, upload: Upload, error: BaseException) -> None:
        """Let the client try again: it sends the last part, or asks for the commit."""
        self._log.warning("upload %s cannot be stored now: %s", upload.id, error)
        state = State.COMPLETE if upload.commit_required else State.RECEIVING
        try:
            self._uploads.change(upload, state, touched_at=now())
        except FrepoError as lost:  # the next request finds that nobody commits it any more
            self._log.warning("upload %s: %s", upload.id, lost)


def wait(future: "Future[Upload]", seconds: float | None) -> Upload | None:
    """Return the committed upload, None if that takes longer. Raises why it was not stored."""
    try:
        return future.result(seconds)
    except TimeoutError:
        return None
