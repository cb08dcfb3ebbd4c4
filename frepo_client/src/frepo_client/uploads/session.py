"""An upload session: parts that are acknowledged one by one, and nothing exists until the commit.

The protocol is tus 1.0 (https://tus.io/protocols/resumable-upload) with a commit of its own.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
import urllib.parse
import uuid
from typing import Any

from ..errors import RefusedError, WrongContentError
from ..server.api import Api
from ..server.connection import Answer, ConnectionFailedError, TooLargeForProxyError, TransientAnswerError
from .outcome import Outcome

PART = 16 << 20
SMALLEST = 1 << 20
SESSIONS = "/api/v1/uploads"
_TUS = {"Tus-Resumable": "1.0.0"}
_BREAKS = {502, 504}  # a proxy says so; a service that has no room or no time has none for a smaller part either
_ACCEPTED = 202
_OTHER_OFFSET, _GONE, _WRONG_CHECKSUM = 409, {404, 410}, 460


class SessionGoneError(Exception):
    """The server does not have the session any more: it has expired, or was ended."""


class UploadSession:
    """A session on the server. Parts are sent in order; `offset` is what the server has acknowledged.

    `coding` is how they are compressed, empty: not at all; `size` is how many bytes of the content they have.
    """

    def __init__(self, api: Api, location: str, coding: str = "") -> None:
        self.location = location
        self.offset = self.size = 0
        self.coding = coding
        self._api = api
        self._largest = PART  # what a proxy takes

    @classmethod
    def create(cls, api: Api, collection_id: str, *, size: int | None, coding: str = "") -> UploadSession:
        """Begin a session; `size` is what is sent. Raises `RefusedError`; with 404 and 405 there are no sessions."""
        length = {"Upload-Defer-Length": "1"} if size is None else {"Upload-Length": str(size)}
        headers = {
            **_TUS,
            **length,
            "Upload-Metadata": "collection " + base64.b64encode(collection_id.encode()).decode(),
            "Upload-Commit": "required",
            "Idempotency-Key": str(uuid.uuid4()),  # an answer that is lost leaves no second session
            **({"Content-Encoding": coding} if coding else {}),
        }
        answer = api.retry.run(lambda: api.connection.send("POST", SESSIONS, body=b"", headers=headers))
        return cls(api, _own_path(answer.headers["Location"] or ""), coding)

    @classmethod
    def resume(cls, api: Api, location: str, coding: str = "") -> UploadSession:
        """Go on with a session of an earlier run. Raises `SessionGoneError`."""
        session = cls(api, location, coding)
        session.offset = session.size = session.acknowledged()
        return session

    def acknowledged(self) -> int:
        """Ask the server how many bytes it has. Raises `SessionGoneError`."""

        def ask() -> int:
            answer = self._send("HEAD", None, {})
            try:
                return int(answer.headers["Upload-Offset"])
            except (TypeError, ValueError):
                raise ConnectionFailedError("the answer has no Upload-Offset; a proxy may have removed it") from None

        return self._api.retry.run(ask, is_progress=False)

    def send_part(self, part: bytes, size: int) -> None:
        """Send a part until the server has acknowledged it. Raises `SessionGoneError` or `WrongContentError`.

        `size` is how many bytes of the content it has, which may be compressed. After a break what is left is sent in
        halves: some networks, and the time limits of some proxies, end each request before a whole part has passed.
        """
        begin, end, most = self.offset, self.offset + len(part), min(len(part), self._largest)
        while self.offset < end:
            done = self.offset - begin
            try:
                self._patch(part[done : done + most])
                self._api.retry.succeeded()
            except TooLargeForProxyError:
                if most <= SMALLEST:
                    raise
                most = self._largest = max(most // 2, SMALLEST)
            except (ConnectionFailedError, TransientAnswerError) as error:
                self._api.retry.pause(error)
                self.offset = self._offset_within(begin, end)
                if self.offset > begin + done:
                    self._api.retry.succeeded()
                if not isinstance(error, TransientAnswerError) or error.status in _BREAKS:
                    most = max(most // 2, SMALLEST)
        self.size += size

    def commit(self, sha256: str, run: dict[str, Any]) -> Outcome:
        """Make the session a version. Raises `RefusedError` or `SessionGoneError`."""
        values = {"sha256": sha256, "size": self.size}
        if self.coding:
            values["sent_size"] = self.offset
        if "started_at" in run:  # otherwise no command has run
            values.update(run)
        while (answer := self._api.retry.run(lambda: self._post_commit(values))).status == _ACCEPTED:
            time.sleep(_seconds(answer))
        return Outcome(answer.json().get("version") or {})

    def abort(self) -> None:
        """End the session. What it has sent is deleted. Errors do not matter: it would expire."""
        try:
            self._send("DELETE", None, {})
        except (ConnectionFailedError, TransientAnswerError, RefusedError, SessionGoneError):
            return

    def _post_commit(self, values: dict[str, Any]) -> Answer:
        headers = {"Content-Type": "application/json"}
        answer = self._send("POST", json.dumps(values).encode(), headers, suffix="/commit")
        if answer.status != _ACCEPTED:
            answer.json()  # what is no JSON comes from somebody else: it is asked again
        return answer

    def _patch(self, part: bytes) -> None:
        checksum = base64.b64encode(hashlib.sha256(part).digest()).decode()
        headers = {
            "Content-Type": "application/offset+octet-stream",
            "Upload-Offset": str(self.offset),
            "Upload-Checksum": f"sha256 {checksum}",
        }
        try:
            self._send("PATCH", part, headers)
        except RefusedError as error:
            if error.http_status not in {_OTHER_OFFSET, _WRONG_CHECKSUM}:
                raise
            raise ConnectionFailedError(str(error)) from None
        self.offset += len(part)

    def _offset_within(self, begin: int, end: int) -> int:
        found = self.acknowledged()
        if not begin <= found <= end:
            raise WrongContentError(
                f"the server has {found} bytes of this upload, and had acknowledged {begin}; it has lost some"
            )
        return found

    def _send(self, method: str, body: bytes | None, headers: dict[str, str], *, suffix: str = "") -> Answer:
        try:
            return self._api.connection.send(method, self.location + suffix, body=body, headers={**_TUS, **headers})
        except RefusedError as error:
            if error.http_status in _GONE:
                raise SessionGoneError(str(error)) from None
            raise


def _own_path(location: str) -> str:
    """Return the path of a new session below the address of the server.

    A proxy that does not pass on Host makes the service name another host than the one that the client has asked.
    """
    path = urllib.parse.urlsplit(location).path
    return path[path.index(SESSIONS) :] if SESSIONS in path else location


def _seconds(answer: Answer) -> float:
    try:
        return min(60.0, max(0.5, float(answer.headers.get("Retry-After", "2"))))
    except ValueError:
        return 2.0
