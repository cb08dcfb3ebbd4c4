"""Reads a storage's stream ahead in a thread, so that storage and client do not wait for each other."""

import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

PIECE = 512 << 10
PIECES = 2


class ReadAhead:
    """A stream that a separate thread reads a few pieces ahead, starting with the first `read`.

    `close` does not wait: the thread closes the underlying stream when its current read has ended.
    """

    def __init__(self, content: BinaryIO | Callable[[], BinaryIO], on_piece: Callable[[], None] | None = None) -> None:
        """`content` may be a function, which the thread calls to open it. `on_piece` is called after each piece."""
        self._content = content
        self._on_piece = on_piece
        self._pieces: queue.Queue[bytes | Exception] = queue.Queue(PIECES)
        self._rest = b""
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes, or all if `size` is negative. Raises what the underlying stream raised."""
        if size < 0:
            return b"".join(iter(partial(self.read, PIECE), b""))
        self.start()
        if not self._rest:
            self._rest = self._next()
        data, self._rest = self._rest[:size], self._rest[size:]
        return data

    @property
    def is_ready(self) -> bool:
        """Whether `read` returns at once, after `start`."""
        return bool(self._rest) or not self._pieces.empty()

    def start(self) -> None:
        """Begin to read, unless the thread does so already."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="frepo-read-ahead", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End the thread, which closes the underlying stream."""
        self._is_closed = True
        if self._thread is None:
            if not callable(self._content):
                self._content.close()
            return
        while not self._pieces.empty():  # the thread may be waiting for space in the queue
            self._pieces.get_nowait()

    def _next(self) -> bytes:
        piece = self._pieces.get()
        if isinstance(piece, Exception) or not piece:
            self._pieces.put(piece)  # further reads get it again
        if isinstance(piece, Exception):
            raise piece
        return piece

    def _run(self) -> None:
        try:
            with self._content() if callable(self._content) else self._content as content:
                while not self._is_closed:
                    piece = content.read(PIECE)
                    self._put(piece)
                    if not piece:
                        break
        except Exception as error:  # noqa: BLE001  # `read` raises it in the reader's thread
            self._put(error)

    def _put(self, piece: bytes | Exception) -> None:
        self._pieces.put(piece)
        if self._on_piece is not None:
            self._on_piece()
