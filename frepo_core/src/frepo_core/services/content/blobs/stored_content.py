"""Reads the stored bytes of blobs for downloads, restore tests and plug-ins. Whole contents are verified on the way."""

import contextlib
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from sqlalchemy import select

from frepo_core.db import Database
from frepo_core.db.models import Blob
from frepo_core.domain.signatures import LINK_SECONDS
from frepo_core.errors import BlobNotFound, BytesMissingError, NotFoundError
from frepo_core.plugins import StorageBackend

from ...base.records import BlobRecord
from ..content_cache import ContentCache
from ..read_ahead import PIECE, ReadAhead
from ..storages.backends import Backends
from ..storages.write_guard import Presence
from ..verified_reader import VerifiedContent, VerifiedFile, verify

log = logging.getLogger(__name__)

Result = TypeVar("Result")

FILE_NOT_FOUND = "File not found in the storage"
BYTES_MISSING = "The bytes of this file are missing in the storage"


class StoredContent:
    """The bytes of blobs. Small whole contents are kept in memory, `cache_size` bytes in all."""

    def __init__(self, database: Database, backends: Backends, presence: Presence, cache_size: int) -> None:
        self._database = database
        self._backends = backends
        self._presence = presence
        self._cache = ContentCache(cache_size)

    def read(self, blob: BlobRecord, start: int, length: int) -> bytes:
        """Return `length` bytes of a blob from `start`, for small answers. A whole blob is verified and cached.

        Raises the same errors as `open`.
        """
        if (cached := self._cache.get(blob.digest)) is not None:
            return cached[start : start + length]
        is_whole = length == blob.size

        def read(backend: StorageBackend, key: str) -> bytes:
            with backend.open(key, start, None if is_whole else length) as content:
                data = content.read(length)
                while len(data) < length and (more := content.read(length - len(data))):
                    data += more
            if len(data) < length:
                raise BlobNotFound(f"The blob {key!r} ends before its byte {start + length}")
            return data

        data = self._with_location(blob, read)
        if is_whole:
            verify(data, blob)
            self._cache.add(blob.digest, data)
        return data

    def cached(self, digest: str) -> bytes | None:
        """Return a whole small content that was verified and is still in memory, or None."""
        return self._cache.get(digest)

    def open(self, blob: BlobRecord, start: int = 0, length: int | None = None) -> BinaryIO:
        """Open `length` bytes of a blob from `start`; the caller closes the stream. A whole blob is verified.

        Raises `BytesMissingError` if the bytes are missing, which is logged as critical, `StorageUnavailable` if they
        are because the storage is not the one it was, and `NotFoundError` if the blob's row was deleted meanwhile as
        well.
        """
        content = self._with_location(blob, lambda backend, key: backend.open(key, start, length))
        if (blob.size - start if length is None else length) > PIECE:
            content = cast(BinaryIO, ReadAhead(content))
        if start == 0 and length in {None, blob.size}:
            return cast(BinaryIO, VerifiedContent(content, blob))
        return content

    def open_file(self, blob: BlobRecord, start: int = 0, length: int | None = None) -> BinaryIO | None:
        """Open the local file of the blob at `start`, or return None if the backend has no local file.

        The server can send such a file without a thread. A whole blob is verified on the way. Raises the same errors as
        `open`. A file of a wrong size counts as missing: the server would send the existing bytes as a complete answer.
        """

        def open_file(backend: StorageBackend, key: str) -> BinaryIO | None:
            if backend.path(key) is None:
                return None
            file = backend.open(key)
            if file.seek(0, os.SEEK_END) != blob.size:
                file.close()
                raise _wrong_size(blob, key)
            file.seek(start)
            return file

        file = self._with_location(blob, open_file)
        if file and start == 0 and length in {None, blob.size}:
            return cast(BinaryIO, VerifiedFile(file, blob))
        return file

    def path(self, blob: BlobRecord) -> Path | None:
        """Return the path of the blob's local file, or None if the backend has none. Raises as `open_file` does."""

        def path(backend: StorageBackend, key: str) -> Path | None:
            found = backend.path(key)
            if found is not None:
                with contextlib.suppress(FileNotFoundError):  # deleted in this moment
                    if found.stat().st_size == blob.size:
                        return found
                raise _wrong_size(blob, key)
            return None

        return self._with_location(blob, path)

    def url(self, blob: BlobRecord, *, filename: str, content_type: str) -> str | None:
        """Return a URL of the backend's own server, valid for ten minutes, or None if the backend has none."""
        backend = self._backends.get(blob.storage)
        return backend.url(blob.key, expires=LINK_SECONDS, filename=filename, content_type=content_type)

    def _with_location(self, blob: BlobRecord, use: Callable[[StorageBackend, str], Result]) -> Result:
        """Call `use` with the blob's backend and key; again if the blob was moved or stored again meanwhile."""
        storage, key = blob.storage, blob.key
        while True:
            try:
                return use(self._backends.get(storage), key)
            except BlobNotFound as error:
                with self._database.reading() as session:
                    query = select(Blob.storage, Blob.key).where(Blob.id == blob.id)
                    row = session.execute(query).one_or_none()
                if row is None:
                    raise NotFoundError(FILE_NOT_FOUND) from error
                if row.key == key:
                    self._presence.look_for_mark(storage)
                    log.critical("the bytes of blob %s (%s, key %s) are missing", blob.id, storage, key)
                    raise BytesMissingError(BYTES_MISSING) from error
                storage, key = row.storage, row.key


def refuse_damaged(blob: BlobRecord) -> None:
    """Raise `BytesMissingError` if the bytes are known to be damaged, and log it as critical."""
    if blob.is_damaged:
        log.critical("the bytes of blob %s (%s, key %s) are damaged", blob.id, blob.storage, blob.key)
        raise BytesMissingError("The bytes of this file are damaged in the storage")


def _wrong_size(blob: BlobRecord, key: str) -> BlobNotFound:
    return BlobNotFound(f"The file of {key!r} does not have {blob.size} bytes")
