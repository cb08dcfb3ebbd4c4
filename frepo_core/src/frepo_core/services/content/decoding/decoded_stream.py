"""A stream whose content coding is undone while it is read, for contents that a plug-in has received."""

import io
from collections.abc import Iterator
from typing import Any, BinaryIO

from frepo_core.errors import DigestMismatchError, FieldsError

from ..decoder_memory import DecoderMemory, DecoderWait
from .content_codings import CODINGS, PIECE, CodingError, decoded

# It keeps no thread of a server: the plug-in that has received the content waits in one of its own.
WAIT_SECONDS = 600.0


class DecodedStream(io.RawIOBase):
    """What `source` contains, in bounded memory; it cannot be read twice.

    Raises `FieldsError` for an unknown coding, and while it is read `DigestMismatchError` for bytes that are not in it,
    and `ReadersBusyError`, see `decoded`. `memory` is that of the process.
    """

    def __init__(self, source: BinaryIO, coding: str, memory: DecoderMemory) -> None:
        if coding not in CODINGS:
            super().close()  # now: Python would call our own `close` at the end
            raise FieldsError({"coding": [f"Expected one of {', '.join(CODINGS)}, not {coding!r}"]})
        pieces: Iterator[bytes] = iter(lambda: source.read(PIECE), b"")
        self._pieces = decoded(pieces, coding, memory, DecoderWait(seconds=WAIT_SECONDS))
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a part of the buffer, and return the number of bytes; 0 at the end."""
        view = memoryview(buffer).cast("B")
        if not self._rest:
            self._rest = memoryview(self._next())
        count = min(len(view), len(self._rest))
        view[:count], self._rest = self._rest[:count], self._rest[count:]
        return count

    def close(self) -> None:
        """Give the memory back, also if not all was read."""
        self._pieces.close()
        super().close()

    def _next(self) -> bytes:
        try:
            return next(self._pieces, b"")
        except CodingError as error:
            raise DigestMismatchError(f"The content {error}") from None
