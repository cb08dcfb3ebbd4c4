"""Undoes the compression around a whole content, in the box."""

import bz2
import gzip
import io
import lzma
import zlib
from typing import Any, BinaryIO, cast

from frepo_core.plugins import NotDecided, NotRestored

_ENCRYPTED = (b"age-encryption.org/", b"-----BEGIN PGP MESSAGE", b"-----BEGIN AGE ENCRYPTED", b"Salted__")
_ZSTD = b"\x28\xb5\x2f\xfd"


class Counted(io.RawIOBase):
    """Passes on the content, and remembers whether somebody has read of it."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.size = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what is there."""
        count = self._file.readinto(buffer) or 0
        self.size += count
        return int(count)


class _Whole(io.RawIOBase):
    """Reads an unpacker, and says that the content is broken where that fails."""

    def __init__(self, file: Any, failures: tuple[type[Exception], ...]) -> None:
        self._file = file
        self._failures = failures

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        try:
            data = self._file.read(len(view))
        except self._failures as error:
            raise NotRestored(f"the compressed content is damaged: {error}") from error
        view[: len(data)] = data
        return len(data)


def unpack(packed: "io.BufferedReader[Any]") -> BinaryIO:
    """Return the content without the compression around it. Raises `NotDecided` if it is encrypted."""
    head = packed.peek(64)
    if head.startswith(_ENCRYPTED):
        raise NotDecided("the content is encrypted, and frepo has no key of it")
    if head.startswith(b"\x1f\x8b"):
        return _whole(gzip.GzipFile(fileobj=packed), EOFError, gzip.BadGzipFile, zlib.error)
    if head.startswith(b"BZh"):
        return _whole(bz2.BZ2File(packed), EOFError, OSError)
    if head.startswith(b"\xfd7zXZ\x00"):
        return _whole(lzma.LZMAFile(packed), EOFError, lzma.LZMAError)
    return _unpack_zstd(packed) if head.startswith(_ZSTD) else packed


def _unpack_zstd(packed: BinaryIO) -> BinaryIO:
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        try:
            from backports import zstd
        except ImportError:
            raise NotDecided("the content is packed by Zstandard: pip install 'frepo-core[compact]'") from None
    return _whole(zstd.ZstdFile(packed), EOFError, zstd.ZstdError)


def _whole(file: Any, *failures: type[Exception]) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_Whole(file, failures), 1 << 18))
