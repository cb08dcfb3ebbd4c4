"""Checks an image of squashfs: the number of bytes that its first block says (`fs/squashfs/squashfs_fs.h` of Linux)."""

from ...budget import Budget
from ...byte_stream import ByteStream
from ..format import Format, Reader

START = b"hsqs"
_SUPERBLOCK = 96
_BYTES_USED = slice(40, 48)


def check(source: ByteStream, budget: Budget) -> str:
    """Compare the size. Zeros may follow, because images are padded."""
    reader = Reader(source, budget, "squashfs", "the squashfs image")
    block = reader.take(_SUPERBLOCK, "its first block")
    size = int.from_bytes(block[_BYTES_USED], "little")
    if size < _SUPERBLOCK:
        raise reader.broken(f"its first block gives a size of {size} bytes")
    reader.skip(size - _SUPERBLOCK, f"its {size} bytes")
    reader.check_padding()
    return f"The squashfs image has all its {size} bytes"


FORMAT = Format(
    kind="squashfs",
    label="squashfs",
    suffixes=(".squashfs", ".sqsh", ".sfs"),
    recognizes=lambda head: head.startswith(START) and len(head) >= 4,
    check=check,
    covers="container",
)
