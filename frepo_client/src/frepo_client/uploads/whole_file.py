"""Uploads in one request, for servers without upload sessions: nothing is sent before the command has ended."""

from __future__ import annotations

import base64
import contextlib
import tempfile
import uuid
from collections.abc import Mapping
from typing import Any, BinaryIO

from ..errors import ClientError, CommandFailedError
from ..server.api import Api
from .outcome import Outcome


class WholeUpload:
    """Keeps what is sent in a temporary file until the commit. `offset` is its size."""

    coding = ""

    def __init__(self, api: Api, collection_id: str) -> None:
        self.offset = 0
        self._api = api
        self._collection_id = collection_id
        try:
            self._file: Any = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the commit or by abort
        except OSError as error:
            raise _no_room("no folder for temporary files can be written", error) from None

    def send_part(self, part: bytes, size: int) -> None:
        """Keep a part. Raises `CommandFailedError` if the temporary folder is full."""
        try:
            self._file.write(part)
        except OSError as error:
            raise _no_room(f"the dump does not fit into {tempfile.gettempdir()}", error) from None
        self.offset += len(part)

    def commit(self, sha256: str, run: dict[str, Any]) -> Outcome:
        """Upload the file, and report the run."""
        with self._file:
            return upload_whole(self._api, self._collection_id, self._file, self.offset, sha256, run)

    def abort(self) -> None:
        """Delete what was kept."""
        with contextlib.suppress(OSError):  # what is in memory may not fit on the disk
            self._file.close()


def _no_room(problem: str, error: OSError) -> CommandFailedError:
    advice = "name a folder with room for the whole dump in the variable TMPDIR"
    return CommandFailedError(f"{problem} ({error.strerror}), and the server has no upload sessions: {advice}")


def upload_whole(
    api: Api, collection_id: str, content: BinaryIO, size: int, sha256: str, run: Mapping[str, Any]
) -> Outcome:
    """Upload `content` from its start until the server has it. A repetition after a lost answer adds nothing.

    `run` is reported if a command has run. What the client has found in the content before its encryption is part of
    it: a broken one condemns the version.
    """
    digest = base64.b64encode(bytes.fromhex(sha256)).decode()
    headers = {
        "Content-Type": "application/octet-stream",
        "Content-Length": str(size),
        "Content-Digest": f"sha-256=:{digest}:",
        "Idempotency-Key": str(uuid.uuid4()),
    }

    def send() -> Outcome:
        content.seek(0)
        path = f"/api/v1/collections/{collection_id}/versions"
        return Outcome(api.connection.send("PUT", path, body=content, headers=headers).json())

    outcome = api.retry.run(send)
    report = {"outcome": "ok", "sha256": sha256, **run}
    check = report.pop("check", {})
    if check.get("outcome") == "broken":
        report.update(outcome="failed", error_output=check["message"])
        outcome = Outcome({**outcome.version, "verdict": "broken", "verdict_reason": check["message"]})
    if "started_at" in run:
        try:
            api.report_run(collection_id, report)
        except ClientError as error:  # the version is stored
            api.retry.say(f"the run of a version that is stored could not be reported: {error}")
    return outcome
