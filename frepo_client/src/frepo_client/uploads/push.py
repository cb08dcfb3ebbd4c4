"""Uploading a file that exists. It goes on where it was, also after the client was killed."""

from __future__ import annotations

import contextlib
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
from .wire import becomes_smaller, encoder

_NO_SESSIONS = {404, 405}
_HEAD = 64 << 10


class Push:
    """Uploads files. `run` is what the commit says about the command that has written one."""

    def __init__(self, api: Api, reporter: Reporter) -> None:
        self._api = api
        self._reporter = reporter

    def send(self, collection: str, path: str, run: dict[str, Any] | None = None, *, opener: Any = None) -> Outcome:
        """Upload a file as a version; `opener` is that of the built-in `open`. Raises `ClientError`."""
        collection_id = self._api.collection_id(collection)
        try:
            with open(path, "rb", opener=opener) as file:
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
                session = self._session(collection_id, file, size, remembered)
                if session is None:
                    return upload_whole(self._api, collection_id, file, size, self._digest(file).hexdigest(), run)
                return session.commit(self._send_parts(session, file, size, remembered), run)
            except SessionGoneError as error:
                # The file is here, so it can be sent again.
                remembered.forget()
                attempts -= 1
                if not attempts:
                    raise RefusedError(f"the server has ended the upload three times: {error}", 410) from None
                self._reporter.say(f"the server has ended the upload, which begins again: {error}")

    def _session(self, collection_id: str, file: BinaryIO, size: int, remembered: Remembered) -> UploadSession | None:
        """Return the session of an earlier run, else a new one; None if the server has no sessions."""
        known = remembered.read()
        if known.get("location"):
            return self._resumed(known)
        file.seek(0)
        coding = self._api.coding() if becomes_smaller(file.read(_HEAD)) else ""
        try:
            session = UploadSession.create(self._api, collection_id, size=None if coding else size, coding=coding)
        except RefusedError as error:
            if error.http_status in _NO_SESSIONS:
                return None
            raise
        try:
            remembered.write({"location": session.location, "coding": coding, "sizes": {"0": 0}})
        except OSError as error:  # such as a full disk
            self._reporter.say(f"after a break, this upload will begin again: {error.strerror}")
        return session

    def _resumed(self, known: dict[str, Any]) -> UploadSession:
        """Go on with a session. A compressed one only between two parts: where they end in the file is remembered."""
        session = UploadSession.resume(self._api, known["location"], str(known.get("coding") or ""))
        if session.coding:
            sizes = known.get("sizes") or {}
            if str(session.offset) not in sizes:
                session.abort()
                raise SessionGoneError(f"nobody knows which part of the file the {session.offset} bytes are")
            session.size = int(sizes[str(session.offset)])
        return session

    def _send_parts(self, session: UploadSession, file: BinaryIO, size: int, remembered: Remembered) -> str:
        """Send what the server does not have, and return the SHA-256 of the whole file."""
        digest, encode = self._digest(file, session.size), encoder(session.coding)
        while session.size < size:
            part = file.read(min(PART, size - session.size))
            if not part:
                raise ClientError("the file has become shorter while it was sent; nothing is stored")
            digest.update(part)
            sent = encode(part)
            if session.coding:
                self._remember_end(session, remembered, len(sent), len(part))
            session.send_part(sent, len(part))
            self._reporter.progress(session.size, size)
        return str(digest.hexdigest())

    def _remember_end(self, session: UploadSession, remembered: Remembered, sent: int, size: int) -> None:
        """Remember where the next part ends, here and on the server, before it is sent."""
        ends = {str(session.offset): session.size, str(session.offset + sent): session.size + size}
        with contextlib.suppress(OSError):  # such as a full disk: after a break, the upload begins again
            remembered.write({"location": session.location, "coding": session.coding, "sizes": ends})

    def _digest(self, file: BinaryIO, length: int | None = None) -> Any:
        digest, left = hashlib.sha256(), length
        file.seek(0)
        while piece := file.read(1 << 20 if left is None else min(1 << 20, left)):
            digest.update(piece)
            left = None if left is None else left - len(piece)
        return digest
