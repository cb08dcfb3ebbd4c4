"""Reads chunked bodies in linear time and bounded memory, whatever the size of the chunks."""

from typing import Any

from waitress.receiver import ChunkedReceiver
from waitress.utilities import BadRequest

PIECE = 512
MAX_LINE = 4 << 10
MAX_TRAILER = 64 << 10


class BoundedChunkedReceiver(ChunkedReceiver):  # type: ignore[misc]  # waitress has no types
    """Passes a chunked body (RFC 9112, 7.1) to waitress in small parts.

    waitress alone copies all received bytes for each chunk in them, and does not limit the line before a chunk and the
    trailer. This happens in the thread that reads all connections.
    """

    buf: Any

    def __init__(self, buf: Any) -> None:
        super().__init__(buf)
        # `buf` is another one while received bytes are processed; a thread that decides about the body reads this one.
        self.spool = buf

    @property
    def remain(self) -> int:
        """The bytes that are left of the current chunk, by the name that waitress' other receiver has for its own."""
        return int(self.chunk_remainder)

    def received(self, data: bytes) -> int:
        """Process received bytes; return how many of them belong to the body.

        The contents of all chunks in them are written at once.
        """
        pieces: list[bytes | memoryview] = []
        spool, self.buf = self.buf, pieces
        try:
            return self._receive_pieces(data)
        finally:
            self.buf = spool
            if pieces:
                spool.append(pieces[0] if len(pieces) == 1 else b"".join(pieces))

    def _receive_pieces(self, data: bytes) -> int:
        position, view = 0, memoryview(data)
        while position < len(data) and not self.completed:
            if self.remain:
                position += super().received(view[position : position + self.remain])  # not copied
            else:
                position += super().received(data[position : position + PIECE])
            if len(self.control_line) > MAX_LINE:
                self.error = BadRequest("The line before a chunk is too long")
            elif len(self.trailer) > MAX_TRAILER:
                self.error = BadRequest("The trailer is too long")
            if self.error:
                return len(data)
        return position
