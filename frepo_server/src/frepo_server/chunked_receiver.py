"""Reads chunked bodies in time and memory that do not depend on how they are cut."""

from typing import Any

from waitress.receiver import ChunkedReceiver
from waitress.utilities import BadRequest

PIECE = 512
MAX_LINE = 4 << 10
MAX_TRAILER = 64 << 10


class BoundedChunkedReceiver(ChunkedReceiver):  # type: ignore[misc]  # waitress has no types
    """Chunks (RFC 9112, 7.1) as waitress reads them, given to it a piece at a time.

    By itself waitress copies all that has arrived once for each chunk in it, and keeps the line before a chunk and
    the trailer however long they get. All this happens in the one thread that reads every connection.
    """

    buf: Any

    def received(self, data: bytes) -> int:
        """Take in what the client sent; return how many bytes of it belong to the body.

        What chunks hold that arrived together is written at once.
        """
        pieces: list[bytes] = []
        spool, self.buf = self.buf, pieces
        try:
            return self._take_apart(data)
        finally:
            self.buf = spool
            if pieces:
                spool.append(b"".join(pieces))

    def _take_apart(self, data: bytes) -> int:
        position = 0
        while position < len(data) and not self.completed:
            position += super().received(data[position : position + max(self.chunk_remainder, PIECE)])
            if len(self.control_line) > MAX_LINE:
                self.error = BadRequest("The line before a chunk is too long")
            elif len(self.trailer) > MAX_TRAILER:
                self.error = BadRequest("The trailer is too long")
            if self.error:
                return len(data)
        return position
