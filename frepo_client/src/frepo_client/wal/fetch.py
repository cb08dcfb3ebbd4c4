"""Getting a file of the WAL: a whole one, or none, and it is known whether the archive has it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import http.client
import os
import re
import time

from ..errors import RefusedError, WrongContentError
from ..private_files import create, delete, open_lock, replacing
from ..server.api import Api
from ..server.connection import ConnectionFailedError, describe_failure
from ..server.waiting import pieces
from .push import path_of

FOLDER, LOCK = ".frepo-wal", "lock"
_DIGEST = re.compile(r'"([0-9a-f]{64})"')
_SEGMENT = re.compile(r"[0-9A-F]{24}")
_LONGEST_WAIT = 30.0
_PAUSE = 0.02


class Fetch:
    """Gets files from one archive. `folder` has those that were fetched in advance."""

    def __init__(self, api: Api, collection: str, target: str) -> None:
        self.folder = os.path.join(target, FOLDER)
        self._api = api
        self._collection = collection

    def into(self, name: str, path: str) -> int | None:
        """Write a file; return its size, None if the archive has none. Raises errors of the client, and `OSError`."""
        self._forget(name)
        early = os.path.join(self.folder, name)
        self._wait(f"{early}.part")
        with contextlib.suppress(FileNotFoundError):
            os.replace(early, path)
            return os.path.getsize(path)
        content = self._download(name)
        if content is None:
            return None
        with replacing(path, is_durable=False) as file:  # PostgreSQL syncs it
            file.write(content)
        return len(content)

    def in_advance(self, name: str) -> None:
        """Write a file into the folder, where `into` finds it. Others wait for it as long as its part is there."""
        path = os.path.join(self.folder, name)
        delete(f"{path}.part")
        with create(f"{path}.part") as file:
            content = self._download(name)
            file.write(content or b"")
        if content is None:
            delete(f"{path}.part")
        else:
            os.replace(f"{path}.part", path)

    def _download(self, name: str) -> bytes | None:
        """Return the content of a file, None if the archive has none."""
        address = path_of(self._api, self._collection, name)
        try:
            return self._api.retry.run(lambda: self._read(address))
        except RefusedError as error:
            if error.http_status == 404 and error.headers.get("X-Frepo-Wal") == "missing":
                return None
            raise

    def _read(self, address: str) -> bytes:
        try:
            with self._api.connection.open("GET", address, headers={"Accept": "*/*"}) as answer:
                content = b"".join(pieces(answer, self._api.connection.timeout))
                length, etag = answer.headers.get("Content-Length"), answer.headers.get("ETag", "")
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionFailedError(describe_failure(error)) from error
        if length is not None and len(content) != int(length):
            raise ConnectionFailedError("the connection was closed before the end")
        found = _DIGEST.fullmatch(etag)
        if not found or found[1] != hashlib.sha256(content).hexdigest():
            raise WrongContentError("the content that arrived is not the one that was stored; do not use it")
        return content

    def _forget(self, name: str) -> None:
        """Delete what was fetched in advance for places before this one."""
        if not _SEGMENT.fullmatch(name) or not os.path.isdir(self.folder):
            return
        for other in os.listdir(self.folder):
            if _SEGMENT.match(other) and other[8:24] < name[8:]:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(self.folder, other))

    def _wait(self, path: str) -> None:
        """Wait while another process fetches a file, as long as that is a matter of moments."""
        until = time.monotonic() + _LONGEST_WAIT
        while os.path.exists(path) and self._is_fetching() and time.monotonic() < until:
            time.sleep(_PAUSE)

    def _is_fetching(self) -> bool:
        """Return whether a process fetches in advance now: a file may be what a killed one has left."""
        try:
            with open_lock(os.path.join(self.folder, LOCK)) as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # there is no such folder, or its lock is a link
            return False
        return False
