"""What is known of a base after it was read once: where its parts are, and that it has the right bytes."""

import hashlib
from array import array
from collections.abc import Callable
from functools import partial
from typing import BinaryIO, cast

from frepo_core.errors import DamagedBaseError

from ..encodings.format import checksum, read_fully
from .anchors import Anchors
from .sketcher import Sketcher

# A reader of blocks of this size is a small part of the memory that a segment takes.
_BLOCK = 1 << 20
_BLOCKS = 4


class BaseIndex:
    """The anchors of a base, and the checksums of its blocks. It serves all contents that get this base.

    `sketch` says how much the base shares with other contents.
    """

    def __init__(
        self, *, digest: str, size: int, block: int, anchors: Anchors, checks: "array[int]", sketch: list[int]
    ) -> None:
        self.digest = digest
        self.size = size
        self.anchors = anchors
        self.sketch = sketch
        self._block = block
        self._checks = checks

    @classmethod
    def read(
        cls,
        content: BinaryIO,
        *,
        digest: str,
        size: int,
        dependent: str,
        keep_going: Callable[[], None],
        block: int = _BLOCK,
    ) -> "BaseIndex":
        """Read a base from start to end, and compare its SHA-256. `keep_going` is called before each four blocks.

        Raises `DamagedBaseError` for the content with the digest `dependent` if the bytes are wrong.
        """
        anchors, checks, sha256, position = Anchors(), array("Q"), hashlib.sha256(), 0
        sketcher = Sketcher()
        content.seek(0)
        for data in iter(partial(read_fully, content, block), b""):
            if len(checks) % _BLOCKS == 0:
                keep_going()
            sha256.update(data)
            checks.append(checksum(data))
            anchors.add(data, position)
            sketcher.add(data)
            position += len(data)
        if sha256.hexdigest() != digest or position != size:
            raise DamagedBaseError(dependent, digest, "the base's bytes are not its own")
        anchors.sort()
        return cls(digest=digest, size=size, block=block, anchors=anchors, checks=checks, sketch=sketcher.minima)

    def checked(self, content: BinaryIO, dependent: str) -> BinaryIO:
        """Return a reader of the same base, which raises `DamagedBaseError` if its bytes are not those of before."""
        return cast(BinaryIO, _CheckedContent(self, content, self._block, self._checks, dependent))


class _CheckedContent:
    """Reads whole blocks and compares their checksums. It holds one block."""

    def __init__(self, index: BaseIndex, content: BinaryIO, block: int, checks: "array[int]", dependent: str) -> None:
        self._index = index
        self._content = content
        self._size = block
        self._checks = checks
        self._dependent = dependent
        self._position = 0
        self._block, self._number = b"", -1

    def seek(self, offset: int) -> int:
        """Set the position, counted from the start."""
        self._position = offset
        return offset

    def read(self, size: int) -> bytes:
        """Read at most `size` bytes, at most to the end of a block."""
        if self._position >= self._index.size:
            return b""
        number, start = divmod(self._position, self._size)
        if number != self._number:
            self._block, self._number = self._load(number), number
        data = self._block[start : start + size]
        self._position += len(data)
        return data

    def _load(self, number: int) -> bytes:
        self._block, self._number = b"", -1  # before the base is read, which needs memory, too
        self._content.seek(number * self._size)
        block = read_fully(self._content, self._size)
        if checksum(block) != self._checks[number]:
            raise DamagedBaseError(self._dependent, self._index.digest, "its bytes are not those of a moment before")
        return block
