"""Reads the windows of a base, which overlap: the bytes that two of them share are read once."""

from collections.abc import Sequence
from typing import BinaryIO

# Larger pieces are copies that take memory while a base is decoded.
_PIECE = 256 << 10


class Windows:
    """Windows of a seekable content. While they move ahead, the content is read from start to end without a seek back.

    A base may be stored in another machine or encoded itself, where each seek back costs a request or a decoding.
    """

    def __init__(self, content: BinaryIO) -> None:
        self._content = content
        self._kept, self._kept_at = b"", 0

    def read_all(self, windows: Sequence[tuple[int, int]]) -> bytearray:
        """Return the bytes of several windows, one after the other, by their offsets and lengths."""
        if len(windows) == 1:
            return self.read(*windows[0])
        whole = bytearray()
        for start, length in windows:
            whole += self.read(start, length)
        return whole

    def read(self, start: int, length: int) -> bytearray:
        """Return `length` bytes from `start`, or fewer if the content ends before. Keep the second half of them."""
        window, filled = bytearray(length), 0
        if 0 <= start - self._kept_at < len(self._kept):
            known = self._kept[start - self._kept_at :][:length]
            filled = len(known)
            window[:filled] = known
        self._kept = b""  # before the content is read: it may be a decoder that needs memory, too
        if filled < length:
            self._content.seek(start + filled)
        while filled < length and (piece := self._content.read(min(_PIECE, length - filled))):
            window[filled : filled + len(piece)] = piece
            filled += len(piece)
        del window[filled:]
        self._kept, self._kept_at = bytes(memoryview(window)[length // 2 :]), start + length // 2
        return window
