"""Decompresses a content to its end: all members, their checksums, and what follows the last one."""

import re
from collections.abc import Iterator

from ..budget import Budget
from ..byte_stream import CHUNK, ByteStream
from ..outcomes import BrokenContent, NotCheckable
from . import lz4_legacy
from .codecs import MEMORY, Codec, Decompressor

# Output of one step, so that a small input cannot fill the memory.
STEP = 256 << 10
# Input of the first step of a member: a decompressor copies what follows the end of a member, which may have 9 bytes.
FIRST_INPUT = 1 << 10
HEAD = 32
PADDING = 4096
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")


def is_skippable(head: bytes) -> bool:
    """Whether a skippable frame of zstd or lz4 begins here (RFC 8878, 3.1.2)."""
    return _SKIPPABLE.match(head) is not None


def decompress(source: ByteStream, codec: Codec, budget: Budget, memory: int = MEMORY) -> Iterator[bytes]:
    """Yield the decompressed bytes in pieces of at most 256 KiB. `memory` (bytes) is the limit for the window.

    Raises `BrokenContent` for an early end, wrong data, a wrong checksum, or bytes after the end that are not zero:
    gzip, bzip2 and tapes are padded with zeros. Raises `NotCheckable` if the decompressor lacks something.
    """
    members = 0
    while head := _next_head(source, codec, budget):
        budget.spend()
        if codec.has_skippable_frames and is_skippable(head):
            _skip_frame(source, codec)
        elif members and not head.startswith(codec.starts):
            return _check_padding(source, codec, budget)
        elif head.startswith(lz4_legacy.START):
            yield from lz4_legacy.read_frame(source, budget, STEP)
            members += 1
        else:
            yield from _member(source, codec, budget, _begin(source, codec, head, memory))
            members += 1


def _next_head(source: ByteStream, codec: Codec, budget: Budget) -> bytes:
    """Return the first bytes of the next member. Zeros in multiples of four may come before a stream of xz."""
    while codec.has_padding and (head := source.peek(PADDING)).startswith(bytes(4)):
        budget.spend()
        source.skip((len(head) - len(head.lstrip(b"\0"))) // 4 * 4)
    return source.peek(HEAD)


def _member(source: ByteStream, codec: Codec, budget: Budget, decompressor: Decompressor) -> Iterator[bytes]:
    limit = FIRST_INPUT
    while not decompressor.eof:
        data = b""
        if decompressor.needs_input:
            data, limit = source.take(limit), min(2 * limit, CHUNK)
            if not data:
                raise BrokenContent(codec.name, f"The {codec.name} data ends too early, after {source.offset} bytes")
        try:
            out = decompressor.decompress(data, STEP)
        except codec.errors as error:
            raise _wrong_data(codec, str(error), source) from error
        budget.spend(len(out))
        if out:
            yield out
    source.put_back(len(decompressor.unused_data or b""))


def _begin(source: ByteStream, codec: Codec, head: bytes, memory: int) -> Decompressor:
    if reason := codec.refuse(head):
        raise NotCheckable(reason, source)
    return codec.begin(memory)


def _wrong_data(codec: Codec, error: str, source: ByteStream) -> BrokenContent | NotCheckable:
    needs_memory = codec.needs_memory(error)
    if needs_memory or codec.is_unsupported(error):
        message = f"the {codec.name} data cannot be decompressed here: {error}"
        return NotCheckable(message, source, needs_memory=needs_memory)
    return BrokenContent(codec.name, f"The {codec.name} data is damaged before byte {source.offset}: {error}")


def _skip_frame(source: ByteStream, codec: Codec) -> None:
    header = source.read(8)
    size = int.from_bytes(header[4:], "little")
    if len(header) < 8 or source.skip(size) < size:
        raise BrokenContent(codec.name, f"The {codec.name} data ends too early, within a skippable frame")


def _check_padding(source: ByteStream, codec: Codec, budget: Budget) -> None:
    start = source.offset
    while data := source.take():
        budget.spend()
        if data.strip(b"\0").strip(b"\r\n"):  # some scripts add a line end
            raise BrokenContent(codec.name, f"Bytes that are not {codec.name} follow its end, from byte {start} on")
