"""Undoes the content coding of an upload (RFC 9110, 8.4) in bounded memory, piece by piece."""

import importlib.util
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

# A piece of decoded bytes is at most this large.
PIECE = 1 << 20
# A content may be this many times as large as what is sent, and PIECE in addition.
MAX_RATIO = 1000
# `zstd --long` needs 128 MiB; what needs more is refused.
_WINDOW_LOG = 27


class CodingError(ValueError):
    """The bytes are not in this coding, or end too early, or become too many."""


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
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW_LOG})


_FRAMES: dict[str, Callable[[], Any]] = {"gzip": _GzipMember}
_ZSTD = ("compression.zstd",) if sys.version_info >= (3, 14) else ("backports", "backports.zstd")
if all(importlib.util.find_spec(name) for name in _ZSTD):
    _FRAMES["zstd"] = _zstd_frame
CODINGS = tuple(_FRAMES)


def decoded(pieces: Iterable[bytes], coding: str) -> Iterator[bytes]:
    """Yield the decoded bytes of pieces in one of `CODINGS`, at most `PIECE` at a time.

    Several members or frames in a row are one content, as for the programs. Raises `CodingError` for other bytes, a
    missing end, other bytes after the end, or more than `MAX_RATIO` times what was sent.
    """
    decoder = _Decoder(coding)
    for data in pieces:
        yield from decoder.feed(data)
    decoder.finish()


class _Decoder:
    """Decodes pieces, one member or frame after the other."""

    def __init__(self, coding: str) -> None:
        self._coding, self._new_frame = coding, _FRAMES[coding]
        self._frame = self._new_frame()
        self._is_open = False
        self._ended = self._sent = self._made = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Add a piece; yield what it contains."""
        self._sent += len(data)
        left: bytes | None = data
        while left is not None:
            self._is_open = self._is_open or bool(left)
            found = self._decompress(left)
            self._made += len(found)
            if self._made > MAX_RATIO * self._sent + PIECE:
                raise CodingError(f"becomes more than {MAX_RATIO} times as large")
            if found:
                yield found
            left = self._next_input()

    def finish(self) -> None:
        """Raise `CodingError` if the end is missing."""
        if self._is_open or not self._ended:
            raise CodingError(f"ends before the end of its {self._coding} data")

    def _next_input(self) -> bytes | None:
        """Return what to decode next without another piece; None if there is nothing more in this one."""
        if not self._frame.eof:
            return None if self._frame.needs_input else b""
        rest: bytes = self._frame.unused_data
        self._frame, self._is_open, self._ended = self._new_frame(), False, self._ended + 1
        return rest or None

    def _decompress(self, data: bytes) -> bytes:
        try:
            found: bytes = self._frame.decompress(data, PIECE)
        except MemoryError:
            raise
        except Exception as error:  # zlib's or zstd's, which may not be installed
            what = "is followed by bytes that are no" if self._ended else "is no valid"
            raise CodingError(f"{what} {self._coding} data ({error})") from error
        return found
