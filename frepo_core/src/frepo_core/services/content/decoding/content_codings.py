"""Undoes the content coding of an upload (RFC 9110, 8.4) in bounded memory and time, piece by piece."""

import contextlib
import importlib.util
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from frepo_core.domain.sizes import readable_size

from ..decoder_memory import LARGEST_WINDOW, DecoderMemory, DecoderWait

# A piece of decoded bytes is at most this large.
PIECE = 1 << 20
# A content may be this many times as large as what is sent, and PIECE in addition.
MAX_RATIO = 1000
# What is decoded with one call: a frame begins with few bytes, because what follows it is copied.
_FIRST_STEP, _LAST_STEP = 64, 64 << 10
# Each frame costs as much as some KB of content. So many may be tiny; all others have, sent and decoded, so many bytes.
TINY_FRAMES, FRAME_BYTES = 1000, 64
_LARGEST_LOG = LARGEST_WINDOW.bit_length() - 1


_MAGIC = bytes.fromhex("28b52ffd")
_SKIPPABLE = bytes.fromhex("2a4d18")  # after a byte from 0x50 to 0x5f
_DICTIONARY_BYTES = (0, 1, 2, 4)
_SIZE_BYTES = (0, 2, 4, 8)


@dataclass(frozen=True)
class FrameHead:
    """The head of a frame. Its window is in bytes; `skipped` is None, or the size of a frame without content."""

    window: int
    skipped: int | None = None


def parse_head(data: bytes) -> FrameHead | None:
    """Return the head of the frame that begins with these bytes; None if more are needed.

    Raises `ValueError` if they begin no frame.
    """
    magic = data[:4]
    if _MAGIC.startswith(magic):
        return None if len(data) < 5 else _frame(data)
    if magic[0] & 0xF0 == 0x50 and _SKIPPABLE.startswith(magic[1:]):
        return None if len(data) < 8 else FrameHead(0, skipped=8 + int.from_bytes(data[4:8], "little"))
    raise ValueError("unknown frame descriptor")


def _frame(data: bytes) -> FrameHead | None:
    flags = data[4]
    if not flags & 0x20:  # no single segment: a byte for the window follows
        if len(data) < 6:
            return None
        base = 1 << (10 + (data[5] >> 3))
        return FrameHead(base + (base >> 3) * (data[5] & 7))
    start = 5 + _DICTIONARY_BYTES[flags & 3]
    end = start + (_SIZE_BYTES[flags >> 6] or 1)
    size = int.from_bytes(data[start:end], "little") + (256 if flags >> 6 == 1 else 0)
    return None if len(data) < end else FrameHead(size)


class CodingError(ValueError):
    """The bytes are not in this coding, or end too early, or become too many."""


class WindowError(CodingError):
    """The bytes can only be decoded with more memory than an upload may take."""


class _GzipMember:
    """One member of gzip (RFC 1952), with the interface of Python's other decompressors."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(wbits=31)
        self._is_full = False

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def needs_input(self) -> bool:
        return not self._is_full

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        found = self._stream.decompress(self._stream.unconsumed_tail + data, max_length)
        self._is_full = len(found) == max_length
        return found


def _zstd_frame() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _LARGEST_LOG})


@dataclass(frozen=True)
class _Coding:
    """How a member or frame is decoded, and what its first bytes say."""

    new_frame: Callable[[], Any]
    parse_head: Callable[[bytes], FrameHead | None]


_CODINGS: dict[str, _Coding] = {"gzip": _Coding(_GzipMember, lambda data: FrameHead(1 << 15))}
_ZSTD = ("compression.zstd",) if sys.version_info >= (3, 14) else ("backports", "backports.zstd")
if all(importlib.util.find_spec(name) for name in _ZSTD):
    _CODINGS["zstd"] = _Coding(_zstd_frame, parse_head)
CODINGS = tuple(_CODINGS)


def decoded(
    pieces: Iterable[bytes], coding: str, memory: DecoderMemory, wait: DecoderWait
) -> Generator[bytes, None, None]:
    """Yield the decoded bytes of pieces in one of `CODINGS`, at most `PIECE` at a time.

    Several members or frames in a row are one content, as for the programs. Each takes its part of the memory. Raises
    `CodingError` for other bytes, a missing end, other bytes after the end, more than `MAX_RATIO` times what was sent,
    or more frames than it explains; `WindowError`, and `ReadersBusyError` while others have the memory.
    """
    with contextlib.closing(_Decoder(coding, lambda window: memory.taken(window, wait))) as decoder:
        for data in pieces:
            yield from decoder.feed(data)
        decoder.finish()


def check_start(data: bytes, coding: str) -> bool:
    """Return whether these first bytes say how much memory a content needs. Raises `WindowError` if it is too much."""
    try:
        head = _CODINGS[coding].parse_head(data) if data else None
    except ValueError:  # the decoder says so
        return True
    if head is not None:
        _require_window(head.window)
    return head is not None


def _require_window(window: int) -> None:
    if window > LARGEST_WINDOW:
        raise WindowError(
            f"needs a window of {readable_size(window)}, and may need {readable_size(LARGEST_WINDOW)}: compress with "
            "--long=27 or less, or with gzip"
        )


class _Decoder:
    """Decodes pieces, one member or frame after the other.

    `memory` takes the memory for a window of so many bytes, until its end.
    """

    def __init__(self, coding: str, memory: Callable[[int], AbstractContextManager[None]]) -> None:
        self._name, self._coding = coding, _CODINGS[coding]
        self._memory, self._taken = memory, contextlib.ExitStack()
        self._frame: Any = None
        self._head = b""  # the first bytes of a frame, as long as they do not say what it needs
        self._skip = 0  # so many bytes follow that are no content
        self._step = _FIRST_STEP
        self._ended = self._sent = self._made = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Add a piece; yield what it contains."""
        self._sent += len(data)
        view, position = memoryview(data), 0
        while position < len(view):
            if self._skip:
                step = min(self._skip, len(view) - position)
                self._skip -= step
            else:
                step = min(self._step - len(self._head), len(view) - position)
                left = yield from self._decode(self._head + view[position : position + step])
                step -= left
            position += step

    def finish(self) -> None:
        """Raise `CodingError` if the end is missing."""
        if self._frame or self._head or self._skip or not self._ended:
            raise CodingError(f"ends before the end of its {self._name} data")

    def close(self) -> None:
        """Free the memory, then let others have it."""
        self._frame = None
        self._taken.close()

    def _decode(self, data: bytes) -> Generator[bytes, None, int]:
        """Yield what the next bytes contain; return how many of them belong to the next frame."""
        if self._frame is None:
            if (head := self._parse(data)) is None:
                self._head = data
                return 0
            self._head = b""
            if head.skipped is not None:
                return self._skip_frame(head.skipped, len(data))
            self._begin(head)
        while True:
            yield from self._decompress(data)
            if self._frame.eof:
                left = len(self._frame.unused_data)
                self._end()
                return left
            if self._frame.needs_input:
                self._step = min(2 * self._step, _LAST_STEP)
                return 0
            data = b""

    def _skip_frame(self, size: int, arrived: int) -> int:
        self._skip = max(size - arrived, 0)
        self._end()
        return max(arrived - size, 0)

    def _begin(self, head: FrameHead) -> None:
        _require_window(head.window)
        self._taken.enter_context(self._memory(head.window))
        self._frame = self._coding.new_frame()

    def _end(self) -> None:
        self.close()
        self._step = _FIRST_STEP
        self._ended += 1
        if self._ended > TINY_FRAMES + (self._sent + self._made) // FRAME_BYTES:
            raise CodingError(f"has {self._ended} members or frames, most of them empty")

    def _parse(self, data: bytes) -> FrameHead | None:
        try:
            return self._coding.parse_head(data)
        except ValueError as error:
            raise self._invalid(error) from None

    def _decompress(self, data: bytes) -> Iterator[bytes]:
        try:
            found: bytes = self._frame.decompress(data, PIECE)
        except MemoryError:
            raise
        except Exception as error:  # zlib's or zstd's, which may not be installed
            raise self._invalid(error) from error
        self._made += len(found)
        if self._made > MAX_RATIO * self._sent + PIECE:
            raise CodingError(f"becomes more than {MAX_RATIO} times as large")
        if found:
            yield found

    def _invalid(self, error: Exception) -> CodingError:
        what = "is followed by bytes that are no" if self._ended else "is no valid"
        return CodingError(f"{what} {self._name} data ({error})")
