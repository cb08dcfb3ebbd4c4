"""The bytes on their way: exact parts out of an upload, a checked stream out of a download."""

import io
from typing import Any, BinaryIO, cast

from frepo_core.plugins import ExactReader, StorageUnavailable

from .errors import translated

CHUNK = 1 << 20


def read_part(content: BinaryIO, part: bytearray) -> bytearray:
    """Fill the part, or refuse a content that has less; its own errors pass as they are."""
    with memoryview(part) as left:
        filled = 0
        while filled < len(part):
            count = _read_into(content, left[filled:])
            if not count:
                missing = len(part) - filled
                raise StorageUnavailable(f"The content ends {missing} bytes before the size that was announced")
            filled += count
    return part


def _read_into(content: BinaryIO, left: memoryview) -> int:
    """Read some of what is left, without a copy where the content can; return how much."""
    if _fills_buffers(type(content)):
        return cast(io.BufferedIOBase, content).readinto(left)
    chunk = content.read(min(CHUNK, len(left)))
    left[: len(chunk)] = chunk
    return len(chunk)


def _fills_buffers(kind: type) -> bool:
    """Tell whether `readinto` gives what `read` does: a class may have changed `read` alone, to count, check or stop."""
    by_class = ((name in vars(each) for name in ("readinto", "read")) for each in kind.__mro__)
    return next((fills for fills, reads in by_class if fills or reads), False)


def expect_end(content: BinaryIO) -> None:
    """Refuse a content that goes on after its announced size."""
    if content.read(1):
        raise StorageUnavailable("The content goes on after the size that was announced")


def download(key: str, body: Any, length: int) -> BinaryIO:
    """Make a file of an answer's body; it raises `StorageUnavailable` where that ends before its announced length."""

    def read(_: int, size: int) -> bytes:
        with translated(key):
            return bytes(body.read(size))

    return cast(BinaryIO, ExactReader(read, length, body.close))
