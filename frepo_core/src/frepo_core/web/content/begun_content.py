"""Reads a content's first piece before the status is sent, so that a failing storage is reported as an error."""

from typing import BinaryIO, Self, cast

PIECE = 64 << 10


def begun(content: BinaryIO) -> BinaryIO:
    """Return the content at the same position, after its first bytes were read. Closes it and raises if that fails."""
    try:
        if getattr(content, "seekable", lambda: False)():  # a local file, which the server sends by itself
            position = content.tell()
            content.read(1)
            content.seek(position)
            return content
        return cast(BinaryIO, _Begun(content.read(PIECE), content))
    except BaseException:
        content.close()
        raise


class _Begun:
    """A stream whose first piece was read already."""

    def __init__(self, first: bytes, content: BinaryIO) -> None:
        self._first = first
        self._content = content

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes."""
        if not self._first:
            return self._content.read(size)
        if size < 0:
            self._first += self._content.read()
            size = len(self._first)
        data, self._first = self._first[:size], self._first[size:]
        return data

    def close(self) -> None:
        """Close the underlying stream."""
        self._content.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
