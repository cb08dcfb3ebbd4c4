"""Reads the stored bytes of contents for downloads, restore tests and plug-ins. Whole ones are verified on the way."""

import contextlib
import logging
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, NoReturn, TypeVar, cast

from frepo_core.db import Database
from frepo_core.db.models import Content, StoredObject
from frepo_core.domain.signatures import LINK_SECONDS
from frepo_core.errors import BlobNotFound, BytesMissingError, NotFoundError, ReadersBusyError

from ...base.records import BlobRecord
from ..chains.chain_reader import ChainReader
from ..content_cache import ContentCache
from ..copies import Fallbacks, OpenOther
from ..decoder_memory import DecoderWait
from ..objects.states import RAW
from ..read_ahead import PIECE, ReadAhead
from ..storages.backends import Backends
from ..storages.write_guard import Presence
from ..verified_reader import VerifiedContent, VerifiedFile, verify
from .object_reads import READ_FAILURES, ObjectReads

log = logging.getLogger(__name__)

Result = TypeVar("Result")

# Small parts are decoded within milliseconds.
SHORT_WAIT = DecoderWait(seconds=5)

BYTES_MISSING = "The bytes of this file are missing in the storage"


class StoredContent:
    """The bytes of contents. Small whole contents are kept in memory, `cache_size` bytes in all.

    What one object does not give is read from another one, with several storages also in the middle.
    """

    def __init__(
        self,
        database: Database,
        backends: Backends,
        presence: Presence,
        chains: ChainReader,
        cache_size: int,
        reads: ObjectReads,
    ) -> None:
        self._database = database
        self._backends = backends
        self._presence = presence
        self._chains = chains
        self._cache = ContentCache(cache_size)
        self._reads = reads

    def has_sound_copy(self, blob: BlobRecord) -> bool:
        """Return whether an object is not known to be damaged."""
        return self._reads.has_sound(blob)

    def refuse_damaged(self, blob: BlobRecord) -> None:
        """Raise `BytesMissingError` if all objects are known to be damaged, and log it as critical."""
        if not self.has_sound_copy(blob):
            log.critical("the bytes of blob %s (%s, key %s) are damaged", blob.id, blob.storage, blob.key)
            raise BytesMissingError("The bytes of this file are damaged in the storage")

    def read(self, blob: BlobRecord, start: int, length: int) -> bytes:
        """Return `length` bytes of a blob from `start`, for small answers. A whole blob is verified and cached.

        Raises the same errors as `open`.
        """
        if (cached := self._cache.get(blob.digest)) is not None:
            return cached[start : start + length]
        is_whole = length == blob.size

        def read(place: StoredObject) -> bytes:
            part = self._chains.open_part(place, start, None if is_whole else length, wait=SHORT_WAIT)
            with part as content:
                data = content.read(length)
                while len(data) < length and (more := content.read(length - len(data))):
                    data += more
            if len(data) < length:
                raise BlobNotFound(f"The blob {place.key!r} ends before its byte {start + length}")
            if is_whole:
                verify(data, blob, self._on_wrong(blob, place))
            return data

        data = self._use(blob, read)
        if is_whole:
            self._cache.add(blob.digest, data)
        return data

    def cached(self, digest: str) -> bytes | None:
        """Return a whole small content that was verified and is still in memory, or None."""
        return self._cache.get(digest)

    def open_spooled(self, blob: BlobRecord, start: int, length: int, wait: DecoderWait) -> BinaryIO:
        """Open a part as `open` does, for a server that sends a file without a thread, see `EncodedParts.open`.

        What is encoded is decoded into a temporary file at full speed. Who waits for a decoder does so as `wait` says.
        """

        def open_at(place: StoredObject) -> tuple[BinaryIO, StoredObject]:
            return self._chains.open_part(place, start, length, wait=wait, is_spooled=True), place

        content, place = self._use(blob, open_at)
        if not hasattr(content, "defer"):
            return self._followed(content, place, blob, start, length)
        if notes := self._reads.notes:
            others = self._others(notes, blob, [place], start + length)
            return notes.continued_file(content, start + length, others)
        return content

    def open(self, blob: BlobRecord, start: int = 0, length: int | None = None) -> BinaryIO:
        """Open `length` bytes of a blob from `start`; the caller closes the stream. A whole blob is verified.

        Raises `BytesMissingError` if the bytes are missing, which is logged as critical, `StorageUnavailable` if they
        are because the storage is not the one it was, and `NotFoundError` if the blob's row was deleted meanwhile as
        well.
        """
        size = blob.size - start if length is None else length

        def open_at(place: StoredObject) -> tuple[BinaryIO, StoredObject]:
            return self._chains.open_part(place, start, length), place

        return self._followed(*self._use(blob, open_at), blob, start, size)

    def _followed(self, content: BinaryIO, place: StoredObject, blob: BlobRecord, start: int, size: int) -> BinaryIO:
        """Return a stream that is read ahead, goes on with another object, and is verified if it is the whole blob."""
        if notes := self._reads.notes:
            content = notes.continued(content, start, size, self._others(notes, blob, [place], start + size))
        if size > PIECE:
            content = cast(BinaryIO, ReadAhead(content))
        if start == 0 and size == blob.size:
            return cast(BinaryIO, VerifiedContent(content, blob, self._on_wrong(blob, place)))
        return content

    def open_file(self, blob: BlobRecord, start: int = 0, length: int | None = None) -> BinaryIO | None:
        """Open the local file of the blob at `start`, or return None if the backend has no local file.

        The server can send such a file without a thread. A whole blob is verified on the way. Raises the same errors as
        `open`. A file of a wrong size counts as missing: the server would send the existing bytes as a complete answer.
        If there may be a second copy to read, the answer is None, too: `open` falls back.
        """

        def open_file(place: StoredObject) -> tuple[BinaryIO, StoredObject] | None:
            backend, key = self._backends.get(place.storage), str(place.key)
            if place.encoding != RAW or backend.path(key) is None:
                return None
            file = backend.open(key)
            if file.seek(0, os.SEEK_END) != blob.size:
                file.close()
                raise _wrong_size(blob, key)
            file.seek(start)
            return file, place

        if (found := self._use_first(blob, open_file)) is None:
            return None
        file, place = found
        if notes := self._reads.notes:
            file = notes.continued_file(file, blob.size, self._others(notes, blob, [place], blob.size))
        if start == 0 and length in {None, blob.size}:
            return cast(BinaryIO, VerifiedFile(file, blob, self._on_wrong(blob, place)))
        return file

    def path(self, blob: BlobRecord) -> Path | None:
        """Return the path of the blob's local file; None if the backend has none, or if it is encoded.

        Raises as `open_file` does.
        """

        def path(place: StoredObject) -> Path | None:
            if place.encoding != RAW:
                return None
            found = self._backends.get(place.storage).path(str(place.key))
            if found is not None:
                with contextlib.suppress(FileNotFoundError):  # deleted in this moment
                    if found.stat().st_size == blob.size:
                        return found
                raise _wrong_size(blob, str(place.key))
            return None

        return self._use_first(blob, path)

    def url(self, blob: BlobRecord, *, filename: str, content_type: str) -> str | None:
        """Return a URL of the backend's own server, valid for ten minutes.

        None if the backend has none, if the blob is encoded, or if a second copy has to be read.
        """
        place = self._reads.find_first(blob)
        if place is None or place.encoding != RAW:
            return None
        backend = self._backends.get(place.storage)
        return backend.url(str(place.key), expires=LINK_SECONDS, filename=filename, content_type=content_type)

    def _use(self, blob: BlobRecord, use: Callable[[StoredObject], Result]) -> Result:
        """Call `use` with the objects of the content until it succeeds."""
        try:
            return self._reads.use(blob, use)
        except BlobNotFound as error:
            self._raise_missing(blob, error)

    def _use_first(self, blob: BlobRecord, use: Callable[[StoredObject], Result | None]) -> Result | None:
        """Call `use` with the first object. Return None if that fails, or is not tried, and there may be another."""
        place = self._reads.find_first(blob)
        if place is None:
            return None
        try:
            return use(place)
        except (NotFoundError, ReadersBusyError):
            raise
        except READ_FAILURES as error:
            if self._reads.notes or any(other.key != place.key for other in self._reads.find(blob)):
                return None
            if isinstance(error, BlobNotFound):
                self._raise_missing(blob, error)
            raise

    def _others(self, notes: Fallbacks, blob: BlobRecord, tried: Sequence[StoredObject], end: int) -> OpenOther:
        """Return the function that opens another object than those tried, from a position to `end`.

        If that one fails, too, its stream goes on with the next one.
        """

        def open_other(position: int, error: Exception) -> BinaryIO:
            content, place = self._reads.open_other(blob, tried, position, end - position, error)
            others = self._others(notes, blob, (*tried, place), end)
            return notes.continued(content, position, end - position, others)

        return open_other

    def _on_wrong(self, blob: BlobRecord, place: StoredObject) -> Callable[[], None] | None:
        """Return what marks this object; None if there can be no other."""
        return partial(self._reads.note_wrong, blob, place) if self._reads.notes else None

    def _raise_missing(self, blob: BlobRecord, error: BlobNotFound) -> NoReturn:
        """Raise why no object could be read: the content was deleted, or its bytes are missing in the right storage."""
        with self._database.reading() as session:
            if session.get(Content, blob.id) is None:
                raise NotFoundError(NotFoundError.FILE) from error
        if blob.storage:
            self._presence.look_for_mark(blob.storage)
        log.critical("the bytes of blob %s (%s, key %s) are missing", blob.id, blob.storage, blob.key)
        raise BytesMissingError(BYTES_MISSING) from error


def _wrong_size(blob: BlobRecord, key: str) -> BlobNotFound:
    return BlobNotFound(f"The file of {key!r} does not have {blob.size} bytes")
