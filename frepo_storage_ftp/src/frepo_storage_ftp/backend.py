"""The backend `ftp`: sends each blob to a temporary name, checks its size and renames it."""

import ftplib
import io
import posixpath
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from socket import socket
from typing import BinaryIO

from frepo_core.plugins import (
    BlobNotFound,
    BlobStat,
    StorageBackend,
    StorageError,
    StorageUnavailable,
    exactly,
    is_key,
    is_partial_path,
    partial_name,
)

from .connection import CHUNK, Connection
from .errors import is_not_found, reply_code, translated
from .listing import Entry, parse_entries
from .login import make_login
from .pool import Pool
from .reader import BlobReader
from .settings import FtpSettings

NO_FOLDER = {550, 553}


def send(connection: Connection, data: socket, content: BinaryIO, size: int, action: str) -> None:
    """Send exactly `size` bytes and wait for the server's confirmation.

    Aborts the transfer if `content` has more or fewer bytes, or raises. Its exceptions are raised unchanged.
    """
    try:
        for chunk in exactly(content, size, CHUNK):
            with translated(action):
                _send_chunk(connection, data, chunk)
    except BaseException:
        connection.abort(data)
        raise
    with translated(action):
        connection.finish(data)


def _send_chunk(connection: Connection, data: socket, chunk: bytes) -> None:
    """Send a chunk. If that fails, raise the server's reply (452, 552, ...) rather than the error of the socket."""
    try:
        data.sendall(chunk)
    except OSError as error:
        data.close()
        refusal = connection.pending_error()
        if refusal is None:
            raise
        raise refusal from error


class FtpStorage(StorageBackend):
    """Stores each blob as a file whose path below the root is the blob's key.

    A blob is complete when `store` returns, but FTP has no command to sync it to the disk. After a crash, a file whose
    name starts with `.partial-` may remain; `list` skips it and `tidy` deletes it. The first call opens the first
    connection.
    """

    def __init__(self, settings: FtpSettings) -> None:
        self.settings = self._settings = settings
        self._base = settings.root.rstrip("/") if settings.root else "."
        self._log_in = make_login(settings)
        self._pool = Pool(self._connect, settings.pool_size)

    def store(self, key: str, content: BinaryIO, size: int) -> None:
        """Send the blob to a temporary name in the same folder, check its size and rename it."""
        target = self._locate(key)
        partial = posixpath.join(posixpath.dirname(target), partial_name())
        action = f"storing {key!r}"
        with self._pool.lease() as connection, self._tidied(partial):
            with translated(action):
                data = self._begin_store(connection, partial)
            send(connection, data, content, size, action)
            with translated(action):
                self._finish_store(connection, partial, target, size)

    def open(self, key: str, start: int = 0, length: int | None = None) -> BinaryIO:
        """Request the size, then read from `start`. The reader uses a connection until it is finished or closed."""
        path = self._locate(key)
        connection = self._pool.take()
        with translated(f"opening {key!r}", absent=key), self._pool.guard(connection):
            available = max(0, connection.size(path) - start)
            count = available if length is None else min(length, available)
            data = connection.begin("RETR", path, start) if count else None
        if data is None:
            self._pool.give_back(connection)
            return io.BytesIO()
        reader = BlobReader(self._pool, connection, data, count, is_whole=count == available)
        return io.BufferedReader(reader, CHUNK)

    def delete(self, key: str) -> None:
        """Delete the file. Its folder stays, as another thread may be storing a blob there."""
        path = self._locate(key)
        with translated(f"deleting {key!r}"), self._pool.lease() as connection:
            connection.delete(path)

    def stat(self, key: str) -> BlobStat:
        """Request size and time."""
        path = self._locate(key)
        with translated(f"looking up {key!r}", absent=key), self._pool.lease() as connection:
            return _describe(key, connection.entry(path))

    def list(self) -> Iterator[BlobStat]:
        """Yield the blobs, one folder at a time. No connection is in use while the caller processes them."""
        for key, entry in self._walk():
            if not is_key(key) or entry.kind != "file":
                continue  # foreign files, symbolic links and devices
            if entry.size is not None and entry.modified is not None:
                yield _describe(key, entry)
            else:
                with suppress(BlobNotFound):  # deleted meanwhile, or not a file
                    yield self.stat(key)

    def tidy(self, before: datetime) -> int:
        """Delete the temporary files of uploads that failed before this time. Foreign files stay."""
        old = [
            key
            for key, entry in self._walk()
            if is_partial_path(key) and entry.modified is not None and entry.modified < before
        ]
        for key in old:
            with translated(f"tidying up {key!r}"), self._pool.lease() as connection:
                connection.delete(f"{self._base}/{key}")
        return len(old)

    def free_space(self) -> int | None:
        """Ask the server, if it knows `AVBL` (draft-peterson-streamlined-ftp-command-extensions)."""
        with translated("asking for the free space"), self._pool.lease() as connection:
            return connection.free_space(self._base)

    def _walk(self) -> Iterator[tuple[str, Entry]]:
        """Yield everything below the root except folders, with its path relative to the root."""
        folders = [""]
        while folders:
            folder = folders.pop()
            for entry in self._entries(folder):
                path = posixpath.join(folder, entry.name)
                if entry.kind != "dir":
                    yield path, entry
                elif is_key(path):
                    folders.append(path)

    def _connect(self) -> Connection:
        with translated(f"connecting to {self._settings.host}:{self._settings.port}"):
            return Connection(self._log_in())

    def _locate(self, key: str) -> str:
        """Return the path of a key. Raises `BlobNotFound` for an invalid key, which could lead out of the root."""
        if not is_key(key):
            raise BlobNotFound(f"{key!r} is not a key")
        return f"{self._base}/{key}"

    def _begin_store(self, connection: Connection, path: str) -> socket:
        """Start sending. If the folders are missing, make them and start again."""
        try:
            return connection.begin("STOR", path)
        except ftplib.error_perm as error:
            if reply_code(error) not in NO_FOLDER:
                raise
        for end in (index for index, character in enumerate(path) if character == "/" and index):
            connection.make_folder(path[:end], self._settings.directory_permissions)
        return connection.begin("STOR", path)

    def _finish_store(self, connection: Connection, partial: str, target: str, size: int) -> None:
        arrived = connection.size(partial)
        if arrived != size:
            raise StorageUnavailable(f"The FTP server has {arrived} of {size} bytes")
        connection.set_mode(partial, self._settings.file_permissions)
        connection.rename(partial, target)

    @contextmanager
    def _tidied(self, partial: str) -> Iterator[None]:
        """After any failure, try to delete the temporary file over another connection."""
        try:
            yield
        except BaseException:
            with suppress(StorageError), translated("tidying up"), self._pool.lease() as connection:
                connection.delete(partial)
            raise

    def _entries(self, folder: str) -> Iterator[Entry]:
        with translated(f"listing {folder or 'the root'}"):
            try:
                with self._pool.lease() as connection:
                    listing = connection.listing(f"{self._base}/{folder}")
            except ftplib.error_perm as error:
                if is_not_found(error):  # nothing was stored yet, or the folder was deleted meanwhile
                    return
                raise
            yield from parse_entries(listing)


def _describe(key: str, entry: Entry) -> BlobStat:
    assert entry.size is not None
    assert entry.modified is not None
    return BlobStat(key=key, size=entry.size, modified=entry.modified)
