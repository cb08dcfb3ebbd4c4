"""Decompresses the legacy frames of lz4, which `lz4 -l` and the tools of Linux kernels write.

The format is in lz4_Frame_format.md, "Legacy frame": blocks with their sizes in front of them, and no end.
"""

from collections.abc import Iterator

import lz4.block

from ..budget import Budget
from ..byte_stream import ByteStream
from ..outcomes import BrokenContent

START = b"\x02\x21\x4c\x18"
_BLOCK = 8 << 20  # decompressed
_MAX_PACKED = _BLOCK + _BLOCK // 255 + 16


def read_frame(source: ByteStream, budget: Budget, step: int) -> Iterator[bytes]:
    """Yield the content in pieces of at most `step` bytes. A larger number than that of a block is another frame's.

    Raises `BrokenContent` for a block that is cut or damaged. A cut between two blocks cannot be seen.
    """
    source.skip(len(START))
    while head := source.peek(4):
        size = int.from_bytes(head, "little")
        if len(head) == 4 and not 0 < size <= _MAX_PACKED:
            return
        source.skip(len(head))
        packed = b"".join(_take(source, size))
        if len(head) < 4 or len(packed) < size:
            raise BrokenContent("lz4", f"The lz4 data ends too early, within a block, after {source.offset} bytes")
        try:
            block = lz4.block.decompress(packed, uncompressed_size=_BLOCK)
        except lz4.block.LZ4BlockError as error:
            message = f"The lz4 data is damaged before byte {source.offset}: {error}"
            raise BrokenContent("lz4", message) from error
        budget.spend(len(block))
        for start in range(0, len(block), step):
            yield block[start : start + step]


def _take(source: ByteStream, size: int) -> Iterator[bytes]:
    while size and (data := source.take(size)):
        size -= len(data)
        yield data
