"""Contents of transfers: exact parts of an upload, and a checked stream of a download."""

import base64
import hashlib
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


def checksum_of(part: bytes | bytearray, mode: str) -> dict[str, str]:
    """Return the MD5 of the bytes as a parameter of the request, which buckets with Object Lock demand.

    Empty with the mode `when_supported`: then boto3 sends a CRC32 by itself.
    """
    if mode == "when_supported":
        return {}
    md5 = hashlib.md5(part, usedforsecurity=False)
    return {"ContentMD5": base64.b64encode(md5.digest()).decode()}


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
