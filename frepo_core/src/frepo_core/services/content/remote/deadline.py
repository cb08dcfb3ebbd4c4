"""The time limit of a whole fetch, which is enforced by shutting its connections down."""

import contextlib
import os
import socket
import threading
import time
from types import TracebackType
from typing import Self

from frepo_core.errors import RemoteFailedError

TOO_LONG = "Fetching the URL took too long"


class Deadline:
    """A time limit in seconds. When it expires, all connections of the fetch are shut down, so that reads end."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._expired = threading.Event()
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._duplicates: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._shut_down)
        self._timer.daemon = True

    def remaining(self) -> float:
        """Return the remaining seconds. Raises `RemoteFailedError` if the time is over."""
        seconds = self._end - time.monotonic()
        if seconds <= 0 or self._expired.is_set():
            raise RemoteFailedError(TOO_LONG)
        return seconds

    def add_connection(self, connection: socket.socket) -> None:
        """Apply the limit to a connection. TLS takes the socket over, so a duplicate is kept to shut it down."""
        with self._lock:
            self.remaining()
            self._sockets.append(connection)
            self._duplicates.append(connection.dup())

    def __enter__(self) -> Self:
        """Start the timer."""
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop the timer and close all sockets."""
        self._timer.cancel()
        self._timer.join()
        for duplicate in self._duplicates:
            duplicate.close()
        for connection in self._sockets:  # urllib3 does not close the connection if it cannot read the headers
            if (descriptor := connection.detach()) != -1:
                os.close(descriptor)

    def _shut_down(self) -> None:
        with self._lock:
            self._expired.set()
            for duplicate in self._duplicates:
                with contextlib.suppress(OSError):
                    duplicate.shutdown(socket.SHUT_RDWR)
