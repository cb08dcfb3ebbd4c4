"""Reads a storage's stream ahead of whoever sends it on, so that neither waits for the other."""

import queue
import threading
from functools import partial
from typing import BinaryIO

PIECE = 512 << 10
PIECES = 2


class ReadAhead:
    """A stream that a thread of its own reads, a few pieces ahead; it begins with the first read.

    Closing it never waits: the thread closes the stream below once the read that it is at has ended.
    """

    def __init__(self, content: BinaryIO) -> None:
        self._content = content
        self._pieces: queue.Queue[bytes | Exception] = queue.Queue(PIECES)
        self._rest = b""
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes, all where that is negative, none at the end; raises what the stream raised."""
        if size < 0:
            return b"".join(iter(partial(self.read, PIECE), b""))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="frepo-read-ahead", daemon=True)
            self._thread.start()
        if not self._rest:
            self._rest = self._next()
        data, self._rest = self._rest[:size], self._rest[size:]
        return data

    def close(self) -> None:
        """Let the thread end, which closes the stream."""
        self._is_closed = True
        if self._thread is None:
            self._content.close()
            return
        while not self._pieces.empty():  # it may wait for room
            self._pieces.get_nowait()

    def _next(self) -> bytes:
        piece = self._pieces.get()
        if isinstance(piece, Exception) or not piece:
            self._pieces.put(piece)  # whoever reads on meets it again
        if isinstance(piece, Exception):
            raise piece
        return piece

    def _run(self) -> None:
        try:
            with self._content:
                while not self._is_closed:
                    piece = self._content.read(PIECE)
                    self._pieces.put(piece)
                    if not piece:
                        break
        except Exception as error:  # noqa: BLE001  # it is the reader's, not the thread's
            self._pieces.put(error)
