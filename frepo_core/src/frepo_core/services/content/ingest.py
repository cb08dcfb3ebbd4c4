"""Ingests uploaded content in one pass: hash it, count its bytes, stop at the limit. Nothing is stored yet."""

import contextlib
import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias, cast

from frepo_core.domain.structs import struct
from frepo_core.errors import (
    BodyEndedError,
    ConfigurationError,
    DigestMismatchError,
    EmptyContentError,
    FrepoError,
)
from frepo_core.plugins import Checksums

from .decoder_memory import DecoderMemory
from .held_bytes import HeldBytes
from .mime_detection import HEAD_BYTES, detect_type
from .spool import (
    DISK_FULL_ERRORS,
    IN_MEMORY,
    Spool,
    SpooledFile,
    UnnamedFile,
    plain_file,
    temporary_disk_full,
)
from .system_folder import system_folder

CHUNK = 1 << 20


class HashedStream(Protocol):
    """A stream that was hashed while it arrived, so that it need not be read for that."""

    def sums(self) -> Checksums:
        """Return the checksums of the whole stream."""


@struct
class Limit:
    """A limit of `size` bytes (0: no limit); `refuse` makes the error for a larger content."""

    size: int
    refuse: Callable[[], FrepoError]

    def enforce(self, size: int) -> None:
        """Raise the error if `size` bytes exceed the limit."""
        if self.size and size > self.size:
            raise self.refuse()


class RoomLimit:
    """Calls `require_room` each 64 MiB of a content that is read: what has arrived takes room on the disk already."""

    size = 0
    step = 64 << 20

    def __init__(self, require_room: Callable[[int], None]) -> None:
        self._require_room, self._steps = require_room, 0

    def enforce(self, size: int) -> None:
        """Ask for the room after each step."""
        if size // self.step > self._steps:
            self._steps = size // self.step
            self._require_room(0)


Limits: TypeAlias = tuple[Limit | RoomLimit, ...]


def smallest_limit(limits: Iterable[Limit]) -> int | None:
    """Return the smallest of the limits in bytes, or None if there is no limit."""
    return min((limit.size for limit in limits if limit.size), default=None)


@struct
class Incoming:
    """Content that was not read yet.

    `declared_size` is the size in bytes that the client declared for the content itself, or None if it is unknown.
    `sha256` and `md5` are the digests that the client declared, in hex, in any letter case. With `is_exact`, a content
    that is larger than declared is refused, too; a transport never delivers more.
    """

    stream: BinaryIO
    declared_size: int | None = None
    sha256: tuple[str, ...] = ()
    md5: str | None = None
    is_exact: bool = False


@struct
class Content:
    """Content that was read once. `stream` is at its start and can be read again. `size` is in bytes.

    `head` are the first bytes, up to `HEAD_BYTES`.
    """

    stream: BinaryIO
    digest: str
    checksum: str
    size: int
    mime: str
    head: bytes


class Ingest:
    """Reads streams. A stream that cannot be read twice is copied to a temporary file."""

    def __init__(self, temp_directory: Path | None) -> None:
        _make_folder(temp_directory or Path(system_folder()))
        self.directory = str(temp_directory) if temp_directory else None
        self.held = HeldBytes(self.directory)
        self.decoder_memory = DecoderMemory()
        self.hashers = ThreadPoolExecutor(max_workers=os.cpu_count(), thread_name_prefix="frepo-hash")

    @contextlib.contextmanager
    def read(self, incoming: Incoming, limits: Limits = ()) -> Iterator[Content]:
        """Read the whole stream and yield its content.

        Raises the error of the exceeded limit, `EmptyContentError`, `DigestMismatchError`, `BodyEndedError` if the
        stream ends early, or `StorageFull`.
        """
        if incoming.declared_size is not None:
            _enforce(limits, incoming.declared_size)
        with disk_full_translated(), contextlib.ExitStack() as stack:
            source, spool = incoming.stream, None
            if not _can_rewind(source):
                spool = stack.enter_context(self.temporary_file())
            start = 0 if spool else source.tell()
            hashed: Any = source
            if hasattr(hashed, "sums") and start == 0 and not incoming.md5:
                sums, size, head = _measure(hashed, incoming, limits)
            else:
                sums, size, head = _read_and_hash(incoming, spool, limits)
            stream = spool or source
            stream.seek(start)
            mime = detect_type(head)
            yield Content(stream=stream, digest=sums.digest, checksum=sums.checksum, size=size, mime=mime, head=head)

    @contextlib.contextmanager
    def spool(self) -> Iterator[Spool]:
        """Yield a spool: content written to it is hashed on the way, and a storage may link its file into place.

        The spool is deleted at the end.
        """
        spool = Spool(IN_MEMORY, partial(plain_file, self.directory, self.held, self.hashers))
        try:
            yield spool
        finally:
            spool.close()

    def temporary_file(self) -> BinaryIO:
        """Open a temporary file, which is in memory while it is small. It is deleted when closed, or at a crash."""
        return cast(BinaryIO, SpooledFile(partial(UnnamedFile, self.directory, self.held)))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"temp_directory (TEMP_DIRECTORY): the folder cannot be made: {error}") from error


def _measure(source: HashedStream, incoming: Incoming, limits: Limits) -> tuple[Checksums, int, bytes]:
    """Return the checksums, the size and the first bytes of a stream that is hashed already."""
    size = incoming.stream.seek(0, io.SEEK_END)
    _enforce(limits, size)
    if incoming.is_exact:
        _refuse_size(incoming, size)
    incoming.stream.seek(0)
    head = incoming.stream.read(HEAD_BYTES)
    if not size:
        raise _empty_content()
    sums = source.sums()
    _compare(incoming, sums.digest, None)
    return sums, size, head


def _read_and_hash(incoming: Incoming, spool: BinaryIO | None, limits: Limits) -> tuple[Checksums, int, bytes]:
    """Read to the end; return the checksums, the size and the first bytes. Copies the content to `spool`, if given."""
    sums = Checksums()
    md5 = hashlib.md5(usedforsecurity=False) if incoming.md5 else None
    size, head = 0, b""
    while chunk := _read(incoming.stream, size):
        size += len(chunk)
        _enforce(limits, size)
        if len(head) < HEAD_BYTES:
            head += chunk[: HEAD_BYTES - len(head)]
        sums.update(chunk)
        if md5:
            md5.update(chunk)
        if spool:
            spool.write(chunk)
    _refuse_size(incoming, size)
    if not size:
        raise _empty_content()
    if incoming.sha256 or md5:
        _compare(incoming, sums.digest, md5.hexdigest() if md5 else None)
    return sums, size, head


def _refuse_size(incoming: Incoming, size: int) -> None:
    """Refuse a content that has not the declared size; a transport cannot deliver more."""
    if incoming.is_exact and incoming.declared_size not in {None, size}:
        raise DigestMismatchError(f"The content has {size} bytes, not {incoming.declared_size} as its client says")
    if not incoming.is_exact and size < (incoming.declared_size or 0):
        raise BodyEndedError(size)


def _empty_content() -> EmptyContentError:
    return EmptyContentError("The content is empty, there is nothing to store")


def _compare(incoming: Incoming, sha256: str, md5: str | None) -> None:
    wrong = [text for text in incoming.sha256 if text.lower() != sha256]
    if wrong or (incoming.md5 and incoming.md5.lower() != md5):
        raise DigestMismatchError(
            "The content does not match the digest that was sent with it", context={"sha256": sha256}
        )


def _enforce(limits: Limits, size: int) -> None:
    for limit in limits:
        limit.enforce(size)


def _read(stream: BinaryIO, received: int) -> bytes:
    """Read a chunk, after `received` bytes. A client that disconnects is no error of the service."""
    try:
        return stream.read(CHUNK)
    except OSError as error:
        raise BodyEndedError(received) from error


def _can_rewind(stream: BinaryIO) -> bool:
    """Return whether the stream can be read again: a temporary file can, a socket or a wrapper cannot."""
    try:
        return stream.seekable()
    except AttributeError:
        return False


@contextlib.contextmanager
def disk_full_translated() -> Iterator[None]:
    """Raise `StorageFull` if the disk for temporary files is full."""
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL_ERRORS:
            raise temporary_disk_full() from error
        raise
