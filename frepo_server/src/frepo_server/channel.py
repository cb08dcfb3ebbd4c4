"""Connections: errors as JSON, large parts of answers without a copy, bodies in the application's buffers."""

import json
import logging
import sys
import threading
import time
from typing import Any, cast

from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.channel import ClientDisconnected
from waitress.server import BaseWSGIServer, create_server
from waitress.task import ErrorTask

from .accepting import accept_well
from .application import Buffer, ServerHooks
from .bodies.body_spool import BodySpool
from .bodies.chunked_receiver import BoundedChunkedReceiver
from .decision_task import EarlyResponse
from .early_response import EarlyResponseChannel
from .periodic_warning import PeriodicWarning
from .request_head import MAX_HEAD
from .request_parser import RequestParser
from .task_dispatcher import TaskDispatcher

HEAD_BYTES = 16 << 10
BODY_BYTES = 64 << 10
SEND_BYTES = 256 << 10
LARGE_BYTES = 64 << 10
MAX_QUEUED_BYTES = 512 << 10
TURN_BYTES = 256 << 10


# The type of the first record of a connection (RFC 8446, 5.1). No request begins with it.
HANDSHAKE = b"\x16"
WARNING = (
    "A client speaks TLS, but this port takes plain HTTP: %(about)s. Use http:// there, or TLS at the proxy only. "
    "Since the last such line %(count)d connections were closed"
)


class JsonErrorTask(ErrorTask):  # type: ignore[misc]  # waitress has no types
    """Answers a request that waitress cannot parse, or that the application refused before its body arrived."""

    def execute(self) -> None:
        """Write the answer, and close the connection: the start of the next request is unknown."""
        error = self.request.error
        if isinstance(error, EarlyResponse):
            self._write(error.status, error.headers, error.body)
            return
        media, body = self._body(f"{error.reason}: {error.body}", error.code)
        self._write(f"{error.code} {error.reason}", [("Content-Type", media)], body)

    def _body(self, text: str, status: int) -> tuple[str, bytes]:
        """Return the media type and the body of an error: the application's for this path, if it has its own."""
        hooks: ServerHooks | None = self.channel.hooks
        if hooks and (own := hooks.error_body(self.request.path, text, status)):
            return own
        numbers = {"error_code": status, "http_code": status, "exit_code": status}
        return "application/json", json.dumps({"status": text, **numbers}, separators=(",", ":")).encode() + b"\n"

    def _write(self, status: str, headers: list[tuple[str, str]], body: bytes) -> None:
        self.status = status
        self.request.headers.pop(
            "CONNECTION", None
        )  # with HTTP/1.0 and keep-alive, waitress would send two Connection headers
        self.response_headers.extend(headers)
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class MemoryBuffer(ReadOnlyFileBasedBuffer):  # type: ignore[misc]
    """A large part of an answer, sent without a copy. waitress alone copies it twice, and may write it to a file."""

    def __init__(self, data: bytes) -> None:
        self._remaining = memoryview(data)

    def __len__(self) -> int:
        return len(self._remaining)

    def get(self, size: int, skip: bool = False) -> memoryview:
        """Return at most `size` bytes."""
        return self._remaining[:size]

    def skip(self, size: int, allow_prune: int = 0) -> None:
        """Skip bytes that were sent."""
        self._remaining = self._remaining[size:]

    def close(self) -> None:
        """Release the bytes."""
        self._remaining = memoryview(b"")


class Channel(EarlyResponseChannel):
    """A connection that answers errors as JSON, sends in turns with others, and uses the monotonic clock.

    waitress alone sends as much as the kernel's buffer takes, megabytes on a fast network, and each thread's heap grows
    to that size. Its times are those of the host's clock, which may be changed.
    """

    error_task_class = JsonErrorTask
    tls_warning: PeriodicWarning  # of the server
    _turn = TURN_BYTES

    @property
    def is_heavy(self) -> bool:
        """Whether the next request has a body, such as an upload: it may take long, or wait for the database's lock."""
        return bool(self.requests) and self.requests[0].headers.get("CONTENT_LENGTH", "0") != "0"

    def received(self, data: bytes) -> bool:
        """Process received bytes in small parts: for each request in them, waitress copies all bytes that follow.

        A connection that begins like one of TLS is closed: its client would wait for an answer until a timeout.
        """
        if self.request is None and data.startswith(HANDSHAKE) and not self.requests:
            self.tls_warning.note(self.addr[0])
            self.handle_close()
            return False
        position, is_accepted = 0, True
        while position < len(data) and is_accepted:
            size = self._next_size()
            is_accepted = super().received(data[position : position + size])
            position += size
        return is_accepted

    def _next_size(self) -> int:
        if self.request is None or not self.request.headers_finished:
            return HEAD_BYTES
        return max(getattr(self.request.body_rcv, "remain", 0), BODY_BYTES)

    @property
    def sendbuf_len(self) -> int:
        """How many bytes of the answer waitress sends with one call; 0 ends its loop."""
        return max(min(self._largest_send, self._turn), 0)

    @sendbuf_len.setter
    def sendbuf_len(self, size: int) -> None:
        self._largest_send = min(size, SEND_BYTES)

    def _flush_some(self, do_close: bool = True) -> bool:
        """Send queued bytes. The thread that serves all connections sends at most `TURN_BYTES` of each in turn.

        A fast client takes the bytes at once: waitress alone would send it the whole file, and answer nobody meanwhile.
        """
        with self.outbuf_lock:
            self._turn = TURN_BYTES if threading.get_ident() == self._reader else sys.maxsize
            return super()._flush_some(do_close)

    def _flush_outbufs_below_high_watermark(self) -> None:
        """Wait until the client has taken bytes. Another thread runs requests meanwhile.

        If too many clients wait like this one, break off its answer: it would keep a thread from the requests of
        others.
        """
        dispatcher = self.server.task_dispatcher
        if self.total_outbufs_len > self.adj.outbuf_high_watermark and not dispatcher.lend():
            text = "an answer is broken off: %d other clients read more slowly than their answers are made, too"
            self.logger.warning(text, dispatcher.lent_count)
            self.will_close = True
            self.server.pull_trigger()
            raise ClientDisconnected
        super()._flush_outbufs_below_high_watermark()

    def writable(self) -> bool:
        """Return whether to send: not while the file that is sent has no bytes yet, because a thread reads them."""
        if not self.total_outbufs_len:  # most connections, each time this thread waits for events
            return bool(self.will_close or self.close_when_flushed)
        file = getattr(self.outbufs[0], "file", None)
        if getattr(file, "is_waiting", False) and not self.will_close:
            return False
        return bool(super().writable())

    def send(self, data: Any, do_close: bool = True) -> int:
        """Send bytes; return how many the kernel took."""
        count = int(super().send(data, do_close)) if data else 0
        self._turn -= count
        return count

    def write_soon(self, data: Any) -> int:
        """Queue bytes of an answer. If nothing was queued, the client's idle time starts now."""
        if not self.total_outbufs_len:
            self._last_activity = time.monotonic()
        if defer := getattr(getattr(data, "file", None), "defer", None):
            defer(self.server.pull_trigger)
        if isinstance(data, bytes) and len(data) >= LARGE_BYTES and self.total_outbufs_len < MAX_QUEUED_BYTES:
            data = MemoryBuffer(data)
        return int(super().write_soon(data))

    @property
    def last_activity(self) -> float:
        """The time of the last transfer, by `time.monotonic`."""
        return self._last_activity

    @last_activity.setter
    def last_activity(self, ignored: float) -> None:
        self._last_activity = time.monotonic()


def make_server(app: object, hooks: ServerHooks | None, **settings: Any) -> Any:
    """Return waitress' server for the application, with one listener for each address."""

    class Parser(RequestParser):
        """Parses requests, with the application's buffers for bodies."""

        def parse_header(self, header_plus: bytes) -> None:
            super().parse_header(header_plus)
            if self.body_rcv is None:
                return
            spool = BodySpool(self._new_buffer(), hooks)
            if self.chunked:
                self.body_rcv = BoundedChunkedReceiver(spool)
            else:
                self.body_rcv.buf = spool

        def _new_buffer(self) -> Buffer:
            if hooks is None:
                return cast(Buffer, self.body_rcv.getbuf())
            return hooks.new_buffer(self.adj.inbuf_overflow, self.headers.get("CONTENT_TYPE", ""), self.query)

    class SpoolingChannel(Channel):
        """A connection that uses this parser."""

        parser_class = Parser

    SpoolingChannel.hooks = hooks
    SpoolingChannel.tls_warning = PeriodicWarning(logging.getLogger(f"{__package__}.tls_clients"), WARNING)

    listeners: dict[int, Any] = {}
    dispatcher = TaskDispatcher()
    options = {"max_request_header_size": MAX_HEAD} | settings
    server = create_server(app, map=listeners, _dispatcher=dispatcher, **options)
    dispatcher.set_thread_count(server.adj.threads)
    for listener in listeners.values():
        if isinstance(listener, BaseWSGIServer):
            listener.channel_class = SpoolingChannel
            accept_well(listener)
    return server
