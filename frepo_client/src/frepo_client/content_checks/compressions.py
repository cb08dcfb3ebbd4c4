"""Compressions that the standard library undoes, and the frames of zstd, which it does not."""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterator, Mapping
from typing import Any, Callable

LONGEST_BEGIN = 6  # bytes by which a compression is recognised
_OUTPUT = 1 << 18  # bytes that are undone at a time
_ZSTD, _SKIPPABLE = b"\x28\xb5\x2f\xfd", b"\x2a\x4d\x18"


class DamagedError(Exception):
    """The data is cut, or wrong."""


class Compression:
    """Data that arrives piece by piece. `shows_content` is whether `plain` yields what is in it."""

    name = ""
    shows_content = True
    is_empty = False
    is_at_end = False

    def plain(self, piece: bytes) -> Iterator[bytes]:
        """Yield what is in the next bytes. Raises `DamagedError`."""
        raise NotImplementedError


class _Members(Compression):
    """Gzip, bzip2 or xz: one member after the other, and zeros or line ends after the last one."""

    def __init__(self, name: str, make: Callable[[], Any], errors: tuple[type[Exception], ...]) -> None:
        self.name = name
        self._make = make
        self._errors = errors
        self._decoder: Any = None

    def plain(self, piece: bytes) -> Iterator[bytes]:
        while piece:
            if self._decoder is None:
                if self.is_at_end:
                    piece = piece.lstrip(b"\0\r\n")
                    if not piece:
                        return
                self._decoder, self.is_at_end = self._make(), False
            try:
                yield from self._undo(piece)
            except self._errors as error:
                raise DamagedError(str(error)) from None
            if not self._decoder.eof:
                return
            piece, self._decoder, self.is_at_end = self._decoder.unused_data, None, True

    def _undo(self, piece: bytes) -> Iterator[bytes]:
        while True:
            plain = self._decoder.decompress(piece, _OUTPUT)
            yield plain
            # zlib returns what it has not read, the others keep it.
            piece = getattr(self._decoder, "unconsumed_tail", b"")
            if self._decoder.eof or (not piece and getattr(self._decoder, "needs_input", len(plain) < _OUTPUT)):
                return


class _Zstd(Compression):
    """The frames and blocks of zstd (RFC 8878, 3.1): a cut is seen, the content is not."""

    name = "zstd"
    shows_content = False

    def __init__(self) -> None:
        self.is_empty = True
        self._kept = b""
        self._steps = self._walk()
        self._next = next(self._steps)

    def plain(self, piece: bytes) -> Iterator[bytes]:
        data, at = self._kept + piece, 0
        while True:
            count = abs(self._next)
            if len(data) - at < count:
                break
            # What is skipped may be large: it is not copied.
            taken = data[at : at + count] if self._next > 0 else b""
            at += count
            self._next = self._steps.send(taken)
        if self._next < 0:
            self._next += len(data) - at
            at = len(data)
        self._kept = data[at:]
        self.is_at_end = self._is_between_frames and not self._kept.strip(b"\0\r\n")
        yield b""

    def _walk(self) -> Generator[int, bytes, None]:
        """Yield how many bytes are needed next, negative: to skip."""
        while True:
            self._is_between_frames = True
            magic = yield 4
            if magic[1:] == _SKIPPABLE and magic[0] >> 4 == 5:
                self._is_between_frames = False
                size = yield 4
                yield -int.from_bytes(size, "little")
                continue
            if not magic.strip(b"\0\r\n"):
                continue
            if magic != _ZSTD:
                raise DamagedError("something else follows its end")
            self._is_between_frames = False
            yield from self._walk_frame()

    def _walk_frame(self) -> Generator[int, bytes, None]:
        descriptor = (yield 1)[0]
        is_single = descriptor >> 5 & 1
        sizes = (is_single, 2, 4, 8)[descriptor >> 6]
        yield -(1 - is_single + (0, 1, 2, 4)[descriptor & 3] + sizes)
        is_last = 0
        while not is_last:
            header = int.from_bytes((yield 3), "little")
            is_last, kind, size = header & 1, header >> 1 & 3, header >> 3
            if kind == 3:
                raise DamagedError("it has a block of a kind that does not exist")
            self.is_empty = self.is_empty and size == 0
            yield -(1 if kind == 1 else size)
        yield -4 if descriptor >> 2 & 1 else 0


def find_compression(first: bytes) -> Compression | None:
    """Return the compression of data that begins so, None if it is not one of them."""
    return next((make() for begin, make in _MAKERS.items() if first.startswith(begin)), None)


def _gzip() -> Compression:
    return _Members("gzip", lambda: zlib.decompressobj(31), (zlib.error,))


def _bzip2() -> Compression | None:
    try:
        import bz2
    except ImportError:  # Python was built without it
        return None
    return _Members("bzip2", bz2.BZ2Decompressor, (OSError,))


def _xz() -> Compression | None:
    try:
        import lzma
    except ImportError:
        return None
    return _Members("xz", lzma.LZMADecompressor, (lzma.LZMAError,))


_MAKERS: Mapping[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": _gzip,
    b"BZh": _bzip2,
    b"\xfd7zXZ\0": _xz,
    _ZSTD: _Zstd,
}
