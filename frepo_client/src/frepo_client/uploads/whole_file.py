"""Uploads in one request, for servers without upload sessions: nothing is sent before the command has ended."""

from __future__ import annotations

import base64
import tempfile
import uuid
from typing import Any, BinaryIO

from ..server.api import Api
from .outcome import Outcome


class WholeUpload:
    """Keeps what is sent in a temporary file until the commit. `offset` is its size."""

    def __init__(self, api: Api, collection_id: str) -> None:
        self.offset = 0
        self._api = api
        self._collection_id = collection_id
        self._file: Any = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the commit or by abort

    def send_part(self, part: bytes) -> None:
        """Keep a part."""
        self._file.write(part)
        self.offset += len(part)

    def commit(self, sha256: str, run: dict[str, Any]) -> Outcome:
        """Upload the file, and report the run."""
        with self._file:
            outcome = upload_whole(self._api, self._collection_id, self._file, size=self.offset, sha256=sha256)
        self._api.report_run(self._collection_id, {"outcome": "ok", "sha256": sha256, **run})
        return outcome

    def abort(self) -> None:
        """Delete what was kept."""
        self._file.close()


def upload_whole(api: Api, collection_id: str, content: BinaryIO, *, size: int, sha256: str) -> Outcome:
    """Upload `content` from its start until the server has it. A repetition after a lost answer adds nothing."""
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

    return api.retry.run(send)
