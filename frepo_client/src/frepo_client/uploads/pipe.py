"""Sending what a command prints: a version exists only if every stage has ended with 0."""

from __future__ import annotations

import contextlib
import hashlib
import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, Union

from ..content_checks.content_check import ContentCheck, Finding
from ..errors import ClientError, CommandFailedError, RefusedError
from ..reporter import Reporter
from ..server.api import Api
from ..stages import Ended, Pipeline, describe
from ..state import Remembered
from .outcome import Outcome
from .run_reports import RunReports
from .session import PART, UploadSession
from .spool import Spool, SpooledUpload
from .whole_file import WholeUpload
from .wire import encoder, is_compressor, is_opaque

Upload = Union[UploadSession, WholeUpload, SpooledUpload]
_NO_SESSIONS = {404, 405}
# A larger output is not that of a command that has written nothing, compressed.
_SMALL = 64 << 10
_EMPTY = "The command has written nothing"
_HIDDEN = "a stage is a shell with several commands: the exit status of each is not known; `set -o pipefail` helps"


Piece = TypeVar("Piece")


def read_ahead(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Yield the pieces; one is read in advance. At most three are in memory: read, waiting, sent."""
    waiting: queue.Queue[Piece | BaseException | None] = queue.Queue(maxsize=1)
    is_over = threading.Event()

    def put(item: Piece | BaseException | None) -> bool:
        while not is_over.is_set():
            try:
                waiting.put(item, timeout=0.5)
            except queue.Full:
                continue
            return True
        return False

    def read() -> None:
        try:
            for piece in pieces:
                if not put(piece):
                    return
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that sends
            put(error)
        else:
            put(None)

    threading.Thread(target=read, daemon=True).start()
    try:
        while (item := waiting.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        is_over.set()


@dataclass(frozen=True)
class Dump:
    """What to run for a collection.

    `environment` is added to that of the client. `timeout` is in seconds; 0: no limit. `spool` is
    the folder in which the output waits until the command has ended; empty: it is sent meanwhile. `plain` is how many
    stages make the content that the others encrypt; 0: nothing is encrypted. `measured` are numbers of the source.
    """

    collection: str
    stages: Sequence[Sequence[str]]
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 0.0
    spool: str = ""
    plain: int = 0
    measured: Mapping[str, float] = field(default_factory=dict)


class _Output:
    """What the stages put out, on its way to the server. `digest` and `check` are of it before it is compressed."""

    def __init__(self, dump: Dump, coding: str) -> None:
        self.digest = hashlib.sha256()
        self.check = ContentCheck()
        self._is_looked_at_before = bool(dump.plain)
        self._encode = encoder(coding)
        self._size = 0

    def parts(self, pipeline: Pipeline) -> Iterator[tuple[bytes, int]]:
        """Yield parts as they are sent, and how many bytes of the output each has."""
        for part in pipeline.pieces(PART):
            self.digest.update(part)
            self._size += len(part)
            if not self._is_looked_at_before and self._size <= _SMALL:
                self.check.update(part)
            yield self._encode(part), len(part)

    def finding(self) -> Finding:
        """Return what was found; nothing about a large output that the server looks at."""
        return self.check.finish() if self._is_looked_at_before or self._size <= _SMALL else Finding()


class Pipe:
    """Runs dumps and sends their output."""

    def __init__(self, api: Api, reporter: Reporter) -> None:
        self._api = api
        self._reporter = reporter
        self._reports = RunReports(api, reporter)

    def send(self, dump: Dump) -> Outcome:
        """Run the command and store its output. After `CommandFailedError` or another error, nothing is stored."""
        self._reporter.hide(dump.environment.values())
        if not dump.spool:
            self._api.collection_id(dump.collection)  # of another collection, no failure can be reported
        with self._reports.reported(dump.collection, waits=bool(dump.spool)) as run:
            outcome = self._send(dump, self._begin(dump), run)
        with contextlib.suppress(ClientError, OSError):  # the version is stored, whatever happens now
            self._advise(dump)
        return outcome

    def _advise(self, dump: Dump) -> None:
        """Say once for each collection that the service could store less if the last stage did not compress."""
        if dump.plain or len(dump.stages) < 2 or not is_compressor(dump.stages[-1]):
            return
        if not self._api.about().get("compacts"):
            return
        said = Remembered(["advice", self._api.connection.url, dump.collection])
        if not said.read():
            better = describe(dump.stages[:-1])
            self._reporter.say(
                f"the service cannot compact what {dump.stages[-1][0]} has compressed. Leave that stage out, or "
                f"`compress` of the configuration: {better} is compressed on the way, and takes a fraction of the space"
            )
            said.write({"said": True})

    def _send(self, dump: Dump, upload: Upload, run: dict[str, Any]) -> Outcome:
        """Send the output, and complete `run` with how the command has ended."""
        try:
            sha256, ended, found = self._send_output(dump, upload)
            run.update(self._end_of(ended))
            if ended.failed:
                raise CommandFailedError(ended.describe(dump.stages))
            if found.is_empty:
                run["error_output"] += f"\n{_EMPTY}"
                raise CommandFailedError(f"{_EMPTY}: {describe(dump.stages[: dump.plain or None])}")
        except BaseException:
            upload.abort()
            raise
        if dump.plain and found.outcome:
            run["check"] = found.values()
        if dump.measured:
            run["measured"] = dict(dump.measured)
        return upload.commit(sha256, run)

    def _begin(self, dump: Dump) -> Upload:
        if dump.spool:
            return Spool(dump.spool, self._api, self._reporter).begin(dump.collection)
        collection_id = self._api.collection_id(dump.collection)
        try:
            coding = "" if dump.plain or is_opaque(dump.stages[-1]) else self._api.coding()
            return UploadSession.create(self._api, collection_id, size=None, coding=coding)
        except RefusedError as error:
            if error.http_status not in _NO_SESSIONS:
                raise
        return WholeUpload(self._api, collection_id)

    def _send_output(self, dump: Dump, upload: Upload) -> tuple[str, Ended, Finding]:
        output = _Output(dump, upload.coding)
        with Pipeline(
            dump.stages,
            environment=dump.environment,
            timeout=dump.timeout,
            mask=self._reporter.masked,
            look=output.check.update if dump.plain else None,
            looked_at=dump.plain,
        ) as pipeline:
            for part, size in read_ahead(output.parts(pipeline)):
                upload.send_part(part, size)
                self._reporter.progress(upload.offset)
            ended = pipeline.wait()
        return output.digest.hexdigest(), ended, output.finding()

    def _end_of(self, ended: Ended) -> dict[str, Any]:
        """Return what a run has about its end. Zeros of a shell that hides failures are left out: they say nothing."""
        if ended.hidden and not ended.failed:
            self._reporter.say(_HIDDEN)
        late = f"\nThe command did not end within {ended.seconds:.0f} s" if ended.timed_out else ""
        found = {"seconds": int(ended.seconds), "error_output": self._reporter.masked(ended.error_output + late)}
        return found if ended.hidden and not any(ended.statuses) else {**found, "exit_statuses": ended.statuses}
