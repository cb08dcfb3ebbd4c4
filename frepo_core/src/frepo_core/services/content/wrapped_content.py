"""A stream around another one: what reads, checks or continues a content is used as that is."""

from typing import BinaryIO, Self


class WrappedContent:
    """Closes the stream that it wraps."""

    def __init__(self, content: BinaryIO) -> None:
        self._content = content

    def close(self) -> None:
        """Close the stream."""
        self._content.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
