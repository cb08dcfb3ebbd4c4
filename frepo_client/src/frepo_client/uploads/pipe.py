"""Sending what a command prints: a version exists only if every stage has ended with 0."""

from __future__ import annotations

import hashlib
import socket
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Mapping, Sequence, Union

from .. import __version__
from ..errors import ClientError, CommandFailedError, RefusedError, WrongContentError
from ..reporter import Reporter
from ..server.api import Api
from ..stages import Ended, Pipeline
from .outcome import Outcome
from .read_ahead import read_ahead
from .session import PART, SessionGoneError, UploadSession
from .spool import Spool, SpooledUpload
from .whole_file import WholeUpload

Upload = Union[UploadSession, WholeUpload, SpooledUpload]
_NO_SESSIONS = {404, 405}


@dataclass(frozen=True)
class Dump:
    """What to run for a collection.

    `environment` is added to that of the client. `timeout` is in seconds. `spool` is
    the folder in which the output waits until the command has ended; empty: it is sent meanwhile.
    """

    collection: str
    stages: Sequence[Sequence[str]]
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    spool: str = ""


class Pipe:
    """Runs dumps and sends their output."""

    def __init__(self, api: Api, reporter: Reporter) -> None:
        self._api = api
        self._reporter = reporter

    def send(self, dump: Dump) -> Outcome:
        """Run the command and store its output. After `CommandFailedError` or another error, nothing is stored."""
        self._reporter.hide(dump.environment.values())
        run: dict[str, Any] = {
            "started_at": datetime.now(timezone.utc).isoformat(),
            "host": socket.gethostname(),
            "client": f"frepo-client/{__version__}",
        }
        try:
            return self._send(dump, self._begin(dump), run)
        except SessionGoneError as error:
            self._report(dump, {**run, "error_output": f"the upload was ended: {error}"})
            raise RefusedError(f"the server has ended the upload: {error}", 410) from None
        except (CommandFailedError, RefusedError, WrongContentError) as error:
            self._report(dump, {"error_output": self._reporter.masked(str(error)), **run})
            raise
        except KeyboardInterrupt:
            self._report(dump, {**run, "error_output": "the client was ended while the command ran"})
            raise

    def _send(self, dump: Dump, upload: Upload, run: dict[str, Any]) -> Outcome:
        """Send the output, and complete `run` with how the command has ended."""
        try:
            sha256, ended = self._send_output(dump, upload)
        except BaseException:
            upload.abort()
            raise
        run.update(self._end_of(ended))
        if ended.failed:
            upload.abort()
            raise CommandFailedError(ended.describe(dump.stages))
        return upload.commit(sha256, run)

    def _report(self, dump: Dump, run: dict[str, Any]) -> None:
        """Report a failed run, with one attempt. That the server cannot be told does not make it another failure."""
        try:
            self._api.without_patience().report_run(dump.collection, {"outcome": "failed", **run})
        except ClientError as error:
            self._reporter.fail(f"the server could not be told of this failure: {error}")

    def _begin(self, dump: Dump) -> Upload:
        if dump.spool:
            return Spool(dump.spool, self._api, self._reporter).begin(dump.collection)
        collection_id = self._api.collection_id(dump.collection)
        try:
            return UploadSession.create(self._api, collection_id, size=None)
        except RefusedError as error:
            if error.http_status not in _NO_SESSIONS:
                raise
        return WholeUpload(self._api, collection_id)

    def _send_output(self, dump: Dump, upload: Upload) -> tuple[str, Ended]:
        digest = hashlib.sha256()
        with Pipeline(dump.stages, environment=dump.environment, timeout=dump.timeout) as pipeline:
            for part in read_ahead(pipeline.pieces(PART)):
                digest.update(part)
                upload.send_part(part)
                self._reporter.progress(upload.offset)
            return digest.hexdigest(), pipeline.wait()

    def _end_of(self, ended: Ended) -> dict[str, Any]:
        """Return what a run has about its end. Zeros of a shell that hides failures are left out: they say nothing."""
        late = f"\nThe command did not end within {ended.seconds:.0f} s" if ended.timed_out else ""
        found = {"seconds": int(ended.seconds), "error_output": self._reporter.masked(ended.error_output + late)}
        return found if ended.hidden and not any(ended.statuses) else {**found, "exit_statuses": ended.statuses}
