"""The time that a fetch has in all, kept by cutting its connections."""

import contextlib
import os
import socket
import threading
import time
from types import TracebackType
from typing import Self

from frepo_core.errors import RemoteFailedError

TOO_LONG = "Fetcher the URL took too long"


class Deadline:
    """The time that a fetch has: when it is over, whoever reads from its connections sees them end."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._made: list[socket.socket] = []
        self._twins: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def remaining(self) -> float:
        """Return the seconds that are left. Raises `RemoteFailedError` where there are none."""
        seconds = self._end - time.monotonic()
        if seconds <= 0 or self._over.is_set():
            raise RemoteFailedError(TOO_LONG)
        return seconds

    def add_connection(self, made: socket.socket) -> None:
        """Take a connection in; TLS takes the socket itself over, but its twin can still cut the connection."""
        with self._lock:
            self.remaining()
            self._made.append(made)
            self._twins.append(made.dup())

    def __enter__(self) -> Self:
        """Let the time run."""
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leave neither thread nor socket behind."""
        self._timer.cancel()
        self._timer.join()
        for twin in self._twins:
            twin.close()
        for made in self._made:  # urllib3 forgets the connection of an answer whose headers it cannot read
            if (descriptor := made.detach()) != -1:
                os.close(descriptor)

    def _cut(self) -> None:
        with self._lock:
            self._over.set()
            for twin in self._twins:
                with contextlib.suppress(OSError):
                    twin.shutdown(socket.SHUT_RDWR)
