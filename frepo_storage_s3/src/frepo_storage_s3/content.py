"""The bytes on their way: exact parts out of an upload, a checked stream out of a download."""

from typing import Any, BinaryIO, cast

from frepo_core.plugins import ExactReader, StorageUnavailable

from .errors import translated

CHUNK = 256 << 10


def read_part(content: BinaryIO, part: bytearray) -> None:
    """Fill a part, or refuse a content that has fewer bytes; its own errors pass as they are."""
    filled, size = 0, len(part)
    while filled < size:
        chunk = content.read(min(CHUNK, size - filled))
        if not chunk:
            raise StorageUnavailable(f"The content ends {size - filled} bytes before the size that was announced")
        part[filled : filled + len(chunk)] = chunk
        filled += len(chunk)


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
