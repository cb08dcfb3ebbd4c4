"""Contents of transfers: exact parts of an upload, and a checked stream of a download."""

from typing import Any, BinaryIO, cast

from frepo_core.plugins import ExactReader, StorageUnavailable

from .errors import translated

CHUNK = 256 << 10


def read_part(content: BinaryIO, part: bytearray) -> None:
    """Fill the part. Raises `StorageUnavailable` if the content ends early, and the content's own exceptions."""
    filled, size = 0, len(part)
    while filled < size:
        chunk = content.read(min(CHUNK, size - filled))
        if not chunk:
            raise StorageUnavailable(f"The content ends {size - filled} bytes before the size that was declared")
        part[filled : filled + len(chunk)] = chunk
        filled += len(chunk)


def expect_end(content: BinaryIO) -> None:
    """Raise `StorageUnavailable` if the content has more bytes than its declared size."""
    if content.read(1):
        raise StorageUnavailable("The content has more bytes than the size that was declared")


def download(key: str, body: Any, length: int) -> BinaryIO:
    """Return an answer's body as a file that raises `StorageUnavailable` if it ends before its declared length."""

    def read(_: int, size: int) -> bytes:
        with translated(key):
            return bytes(body.read(size))

    return cast(BinaryIO, ExactReader(read, length, body.close))
