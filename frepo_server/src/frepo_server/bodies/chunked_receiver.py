"""Reads chunked bodies in linear time and bounded memory, whatever the size of the chunks."""

from typing import Any

from waitress.receiver import ChunkedReceiver
from waitress.utilities import BadRequest

LINE_END = b"\r\n"
# How many bytes are searched for a line end: chunks may be small, and what follows them is copied.
PIECE = 64
MAX_LINE = 4 << 10
MAX_TRAILER = 64 << 10


class BoundedChunkedReceiver(ChunkedReceiver):  # type: ignore[misc]  # waitress has no types
    """Passes a chunked body (RFC 9112, 7.1) to waitress in small parts: whole lines, and the contents of chunks.

    waitress alone copies all received bytes for each chunk in them, and all of a line or of the trailer for each piece
    of it that arrives, and does not limit those. This happens in the thread that reads all connections.
    """

    buf: Any

    def __init__(self, buf: Any) -> None:
        super().__init__(buf)
        # `buf` is another one while received bytes are processed; a thread that decides about the body reads this one.
        self.spool = buf
        self._line = bytearray()  # before a chunk, or of the trailer, as far as it has arrived
        self._trailer_size = 0

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
            elif self.validate_chunk_end:
                position += super().received(data[position : position + len(LINE_END) - len(self.chunk_end)])
            else:
                position += self._receive_line(data[position : position + PIECE])
            if self.error:
                return len(data)
        return position

    def _receive_line(self, data: bytes) -> int:
        """Process bytes up to the end of a line; return how many they are."""
        size = data.find(LINE_END[-1:]) + 1 or len(data)
        self._line += data[:size]
        if self._line.endswith(LINE_END):
            line = bytes(self._line)
            self._line.clear()
            self._end_line(line)
        elif len(self._line) > MAX_LINE:
            where = "of the trailer" if self.all_chunks_received else "before a chunk"
            self.error = BadRequest(f"The line {where} is too long")
        return size

    def _end_line(self, line: bytes) -> None:
        if not self.all_chunks_received:
            super().received(line)
        elif line == LINE_END:
            self.completed = True
        elif (trailer := self._trailer_size + len(line)) > MAX_TRAILER:
            self.error = BadRequest("The trailer is too long")
        else:
            self._trailer_size = trailer
