"""How long the client waits for a server that sends its answer byte by byte."""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Iterator

# Bytes a second on average while a timeout passes, as `curl --speed-limit`: a server that sends less counts as silent.
SLOWEST = 100
_PIECE = 1 << 20
# Seconds between two attempts to end a connection that is late, because it may have no socket yet.
_AGAIN = 1.0


def timed_handlers(certificates: ssl.SSLContext | None) -> list[urllib.request.BaseHandler]:
    """Return what opens connections on which the timeout of a request is also that of the whole head of its answer."""
    return [_Http(), *([_Https(certificates)] if certificates else [])]


def pieces(answer: http.client.HTTPResponse, timeout: float, *, most: int | None = None) -> Iterator[bytes]:
    """Yield the body of an answer as it arrives, at most `most` bytes.

    Raises `TimeoutError` if fewer than `SLOWEST` bytes a second arrive on average while `timeout` seconds are waited.
    """
    lengths = [length for length in (answer.length, most) if length is not None]
    left = min(lengths, default=None)
    waited, arrived = 0.0, 0
    while left != 0:
        began = time.monotonic()
        piece = answer.read1(_PIECE if left is None else min(left, _PIECE))
        if not piece:
            break
        left = None if left is None else left - len(piece)
        waited += time.monotonic() - began  # what the reader does with a piece is not the server's time
        arrived += len(piece)
        if waited > timeout:
            if arrived < SLOWEST * timeout:
                raise TimeoutError
            waited, arrived = 0.0, 0
        yield piece


class _TimedHead(http.client.HTTPConnection):
    """A connection whose timeout is also that of a whole head: a server's, and a proxy's to CONNECT.

    The timeout of a socket begins again with each byte. That of a TLS handshake does not.
    """

    def connect(self) -> None:
        with self._in_time():
            super().connect()

    def getresponse(self) -> http.client.HTTPResponse:
        with self._in_time():
            return super().getresponse()

    @contextlib.contextmanager
    def _in_time(self) -> Iterator[None]:
        """Shut the socket down and raise `TimeoutError` if the block takes longer than the timeout."""
        connected, has_ended, is_late = self.sock, threading.Event(), threading.Event()

        def watch() -> None:
            while not has_ended.wait(_AGAIN if is_late.is_set() else self.timeout):
                is_late.set()
                with contextlib.suppress(OSError, AttributeError):  # not connected yet
                    # Of the socket below TLS, which the other thread reads.
                    socket.socket.shutdown(connected or self.sock, socket.SHUT_RDWR)

        threading.Thread(target=watch, daemon=True).start()
        try:
            yield
        finally:
            has_ended.set()
            if is_late.is_set():
                raise TimeoutError


class _TimedHeadOverTls(_TimedHead, http.client.HTTPSConnection):
    pass


class _Http(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_TimedHead, req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, certificates: ssl.SSLContext) -> None:
        super().__init__(context=certificates)
        self.certificates = certificates

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_TimedHeadOverTls, req, context=self.certificates)
