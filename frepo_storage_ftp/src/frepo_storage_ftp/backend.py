"""Blobs as files on an FTP server: sent to a temporary name, measured, renamed."""

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
from .upload import send

NO_FOLDER = {550, 553}


class FtpStorage(StorageBackend):
    """One file for each blob, its path below the root being its key.

    A blob is complete when `store` returns; FTP has no command that makes it durable, so that is the server's
    matter. What a crash leaves is a file whose name starts with `.partial-`, which is no blob and never listed.
    Nothing is connected before the first call.
    """

    def __init__(self, settings: FtpSettings) -> None:
        self._settings = settings
        self._base = settings.root.rstrip("/") if settings.root else "."
        self._log_in = make_login(settings)
        self._pool = Pool(self._connect, settings.pool_size)

    def store(self, key: str, content: BinaryIO, size: int) -> None:
        """Send the blob to a temporary name beside its place, compare the size, rename it."""
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
        """Ask for the size, then read from `start` on; the reader holds a connection until it is through."""
        path = self._locate(key)
        connection = self._pool.take()
        with translated(f"opening {key!r}", absent=key), self._pool.guard(connection):
            rest = max(0, connection.size(path) - start)
            wanted = rest if length is None else min(length, rest)
            data = connection.begin("RETR", path, start) if wanted else None
        if data is None:
            self._pool.give_back(connection)
            return io.BytesIO()
        reader = BlobReader(self._pool, connection, data, wanted, is_whole=wanted == rest)
        return io.BufferedReader(reader, CHUNK)

    def delete(self, key: str) -> None:
        """Delete the file; its folder stays, as another thread may be about to store there."""
        path = self._locate(key)
        with translated(f"deleting {key!r}"), self._pool.lease() as connection:
            connection.delete(path)

    def stat(self, key: str) -> BlobStat:
        """Ask for size and time."""
        path = self._locate(key)
        with translated(f"looking up {key!r}", absent=key), self._pool.lease() as connection:
            return _describe(key, connection.entry(path))

    def list(self) -> Iterator[BlobStat]:
        """Walk the root, a folder at a time; no connection is held while the caller works."""
        for key, entry in self._walk():
            if not is_key(key) or entry.kind != "file":
                continue  # a symbolic link or a device, as no blob is one
            if entry.size is not None and entry.modified is not None:
                yield _describe(key, entry)
            else:
                with suppress(BlobNotFound):  # deleted meanwhile, or no file
                    yield self.stat(key)

    def tidy(self, before: datetime) -> int:
        """Delete the temporary files of uploads that ended early before this time, and no files of others."""
        old = [
            key
            for key, entry in self._walk()
            if is_partial_path(key) and entry.modified is not None and entry.modified < before
        ]
        for key in old:
            with translated(f"tidying up {key!r}"), self._pool.lease() as connection:
                connection.delete(f"{self._base}/{key}")
        return len(old)

    def _walk(self) -> Iterator[tuple[str, Entry]]:
        """Go through everything below the root but folders, with its path from there."""
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
        """Return the path of a key; refuses what would lead out of the root."""
        if not is_key(key):
            raise BlobNotFound(f"{key!r} is no key")
        return f"{self._base}/{key}"

    def _begin_store(self, connection: Connection, path: str) -> socket:
        """Start sending; make the folders and start again where they are missing."""
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
        """Remove the temporary name after any failure, by another connection, if the server lets us."""
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
                if is_not_found(error):  # nothing was stored yet, or it was removed meanwhile
                    return
                raise
            yield from parse_entries(listing)


def _describe(key: str, entry: Entry) -> BlobStat:
    assert entry.size is not None
    assert entry.modified is not None
    return BlobStat(key=key, size=entry.size, modified=entry.modified)
