"""Downloading a version: it goes on after a break, and its digest decides whether it is the right one."""

from __future__ import annotations

import hashlib
import http.client
import urllib.parse
from collections.abc import Iterator
from typing import Any

from ..errors import WrongContentError
from ..reporter import Reporter
from ..server.api import Api
from ..server.connection import ConnectionFailedError, TransientAnswerError, describe_failure
from ..server.waiting import pieces

PIECE = 1 << 20


def path_of(collection_id: str, version: dict[str, Any]) -> str:
    """Return the path of a version in the API."""
    return f"/api/v1/collections/{collection_id}/versions/{urllib.parse.quote('v' + str(version['number']), safe='')}"


class Download:
    """What the server answers under a path. `sha256` is empty where only the size is known: for a part of a version."""

    def __init__(self, api: Api, path: str, reporter: Reporter, *, size: int, sha256: str = "") -> None:
        self.size = size
        self.sha256 = sha256
        self._path = path
        self._api = api
        self._reporter = reporter

    def pieces(self, start: int = 0, digest: Any = None) -> Iterator[bytes]:
        """Yield the bytes from `start` on. `digest` has seen the bytes before it.

        Raises `WrongContentError` after the last piece if these are not the bytes that the server had stored: until
        then, nobody may use them.
        """
        digest = digest or hashlib.sha256()
        done = start
        etag = ""
        while done < self.size:
            try:
                with self._open(done, etag) as answer:
                    etag = etag or answer.headers.get("ETag", "")
                    for piece in self._read(answer, done, self._api.connection.timeout):
                        digest.update(piece)
                        done += len(piece)
                        self._reporter.progress(done, self.size)
                        self._api.retry.succeeded()
                        yield piece
                        if done > self.size:
                            break
                if done < self.size:
                    raise ConnectionFailedError("the connection was closed before the end")
            except (ConnectionFailedError, TransientAnswerError) as error:
                self._api.retry.pause(error)
        found = digest.hexdigest() if self.sha256 else ""
        if done != self.size or found != self.sha256:
            arrived, wanted = (f" with SHA-256 {one}" if one else "" for one in (found, self.sha256))
            raise WrongContentError(
                f"the content that arrived is not the one that was stored: {done} bytes{arrived} instead of "
                f"{self.size}{wanted}; do not use it"
            )

    def _open(self, start: int, etag: str) -> http.client.HTTPResponse:
        headers = {"Accept": "*/*"}
        if start and (etag or self.sha256):
            headers["Range"] = f"bytes={start}-"
            headers["If-Range"] = etag or f'"{self.sha256}"'
        answer = self._api.connection.open("GET", self._path, headers=headers)
        if answer.status == 206 and not answer.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            answer.close()
            raise WrongContentError("the server has answered another range than the one that was asked for")
        return answer

    @staticmethod
    def _read(answer: http.client.HTTPResponse, start: int, timeout: float) -> Iterator[bytes]:
        """Yield the bytes from `start` on: a proxy that knows no ranges answers all bytes."""
        known = 0 if answer.status == 206 else start
        try:
            for piece in pieces(answer, timeout):
                if known < len(piece):
                    yield piece[known:]
                known = max(0, known - len(piece))
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionFailedError(describe_failure(error)) from error
