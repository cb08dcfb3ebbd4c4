"""Uploading a file that exists. It goes on where it was, also after the client was killed."""

from __future__ import annotations

import hashlib
import os
import socket
from typing import Any, BinaryIO

from .. import __version__
from ..errors import ClientError, RefusedError, UsageError
from ..reporter import Reporter
from ..server.api import Api
from ..state import Remembered
from .outcome import Outcome
from .session import PART, SessionGoneError, UploadSession
from .whole_file import upload_whole

_NO_SESSIONS = {404, 405}


class Push:
    """Uploads files. `run` is what the commit says about the command that has written one."""

    def __init__(self, api: Api, reporter: Reporter) -> None:
        self._api = api
        self._reporter = reporter

    def send(self, collection: str, path: str, run: dict[str, Any] | None = None) -> Outcome:
        """Upload a file as a version. Raises `ClientError`."""
        collection_id = self._api.collection_id(collection)
        try:
            with open(path, "rb") as file:
                status = os.fstat(file.fileno())
                key = [
                    self._api.connection.url,
                    collection_id,
                    os.path.abspath(path),
                    status.st_size,
                    status.st_mtime_ns,
                ]
                remembered = Remembered(key)
                sent = {"host": socket.gethostname(), "client": f"frepo-client/{__version__}", **(run or {})}
                outcome = self._send(collection_id, file, status.st_size, remembered, sent)
                if os.fstat(file.fileno()).st_mtime_ns != status.st_mtime_ns:
                    self._reporter.fail(f"{path} was written to while it was sent; what is stored may be torn")
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from None
        remembered.forget()
        return outcome

    def _send(
        self, collection_id: str, file: BinaryIO, size: int, remembered: Remembered, run: dict[str, Any]
    ) -> Outcome:
        attempts = 3
        while True:
            try:
                session = self._session(collection_id, size, remembered)
                if session is None:
                    return upload_whole(self._api, collection_id, file, size, self._digest(file).hexdigest(), run)
                return session.commit(self._send_parts(session, file, size), run)
            except SessionGoneError as error:
                # The file is here, so it can be sent again.
                remembered.forget()
                attempts -= 1
                if not attempts:
                    raise RefusedError(f"the server has ended the upload three times: {error}", 410) from None
                self._reporter.say(f"the server has ended the upload, which begins again: {error}")

    def _session(self, collection_id: str, size: int, remembered: Remembered) -> UploadSession | None:
        """Return the session of an earlier run, else a new one; None if the server has no sessions."""
        location = remembered.read().get("location")
        if location:
            return UploadSession.resume(self._api, location)
        try:
            session = UploadSession.create(self._api, collection_id, size=size)
        except RefusedError as error:
            if error.http_status in _NO_SESSIONS:
                return None
            raise
        try:
            remembered.write({"location": session.location})
        except OSError as error:  # such as a full disk
            self._reporter.say(f"after a break, this upload will begin again: {error.strerror}")
        return session

    def _send_parts(self, session: UploadSession, file: BinaryIO, size: int) -> str:
        """Send what the server does not have, and return the SHA-256 of the whole file."""
        digest = self._digest(file, session.offset)
        while session.offset < size:
            part = file.read(min(PART, size - session.offset))
            if not part:
                raise ClientError("the file has become shorter while it was sent; nothing is stored")
            digest.update(part)
            session.send_part(part)
            self._reporter.progress(session.offset, size)
        return str(digest.hexdigest())

    def _digest(self, file: BinaryIO, length: int | None = None) -> Any:
        digest, left = hashlib.sha256(), length
        file.seek(0)
        while piece := file.read(1 << 20 if left is None else min(1 << 20, left)):
            digest.update(piece)
            left = None if left is None else left - len(piece)
        return digest
