"""waitress' connections, changed: errors are JSON, large pieces are not copied, and bodies go to the application's buffers."""

import json
import time
from typing import Any

from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.server import BaseWSGIServer, create_server
from waitress.task import ErrorTask

from .application import ServerHooks
from .body_spool import BodySpool
from .chunked_receiver import BoundedChunkedReceiver
from .early_response import AskingChannel, EarlyAnswer
from .request_head import MAX_HEAD
from .request_parser import RequestParser
from .task_dispatcher import TaskDispatcher

HEAD_PIECE = 16 << 10
BODY_PIECE = 64 << 10
SEND_BYTES = 512 << 10
LARGE_PIECE = 64 << 10
IN_MEMORY = 512 << 10


class JsonErrorTask(ErrorTask):  # type: ignore[misc]  # waitress has no types
    """Writes answers to what is no whole request: its head cannot be read or is too large, its body is not wanted."""

    def execute(self) -> None:
        """Write the answer, and close the connection: where the next request starts is not known."""
        error = self.request.error
        if isinstance(error, EarlyAnswer):
            self._write(error.status, error.headers, error.body)
            return
        status = f"{error.reason}: {error.body}"
        numbers = {"error_code": error.code, "http_code": error.code, "exit_code": error.code}
        body = json.dumps({"status": status, **numbers}, separators=(",", ":")).encode()
        self._write(f"{error.code} {error.reason}", [("Content-Type", "application/json")], body)

    def _write(self, status: str, headers: list[tuple[str, str]], body: bytes) -> None:
        self.status = status
        self.request.headers.pop("CONNECTION", None)  # HTTP/1.0 may ask for keep-alive, and would be told both
        self.response_headers.extend(headers)
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class Piece(ReadOnlyFileBasedBuffer):  # type: ignore[misc]
    """A large piece of an answer, sent from where it is. By itself waitress copies it twice, and some into files."""

    def __init__(self, data: bytes) -> None:
        self._left = memoryview(data)

    def __len__(self) -> int:
        return len(self._left)

    def get(self, size: int, skip: bool = False) -> memoryview:
        """Return what comes next, at most `size` bytes."""
        return self._left[:size]

    def skip(self, size: int, allow_prune: int = 0) -> None:
        """Pass over what was sent."""
        self._left = self._left[size:]

    def close(self) -> None:
        """Let go of the bytes."""
        self._left = memoryview(b"")


class Channel(AskingChannel):
    """A connection whose errors are JSON, that sends in pieces of 512 KiB, and knows when it last did.

    By itself waitress reads as much as the kernel's buffer takes, megabytes on a fast network, and the heap
    of each thread keeps room for that. Its times are those of the host's clock, which may be set.
    """

    error_task_class = JsonErrorTask
    sendbuf_len: int

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.sendbuf_len = min(self.sendbuf_len, SEND_BYTES)

    def received(self, data: bytes) -> bool:
        """Take in what was read, in pieces: for each request in it, waitress copies all that follows."""
        position, is_taken = 0, True
        while position < len(data) and is_taken:
            size = self._piece_size()
            is_taken = super().received(data[position : position + size])
            position += size
        return is_taken

    def _piece_size(self) -> int:
        if self.request is None or not self.request.headers_finished:
            return HEAD_PIECE
        return max(getattr(self.request.body_rcv, "remain", 0), BODY_PIECE)

    def write_soon(self, data: Any) -> int:
        """Take in what is to be sent. A client that had nothing to take until now was not silent."""
        if not self.total_outbufs_len:
            self._last_activity = time.monotonic()
        if isinstance(data, bytes) and len(data) >= LARGE_PIECE and self.total_outbufs_len < IN_MEMORY:
            data = Piece(data)
        return int(super().write_soon(data))

    @property
    def last_activity(self) -> float:
        """When bytes were last moved, as `time.monotonic` counts."""
        return self._last_activity

    @last_activity.setter
    def last_activity(self, by_the_hosts_clock: float) -> None:
        self._last_activity = time.monotonic()


def make_server(app: object, hooks: ServerHooks | None, **settings: Any) -> Any:
    """Return waitress' server for the application, with one listener for each address."""

    class Parser(RequestParser):
        """Collects bodies in the application's buffers."""

        def parse_header(self, header_plus: bytes) -> None:
            super().parse_header(header_plus)
            if self.body_rcv is None:
                return
            buffer = hooks.new_buffer(self.adj.inbuf_overflow) if hooks else self.body_rcv.getbuf()
            spool = BodySpool(buffer, hooks)
            if self.chunked:
                self.body_rcv = BoundedChunkedReceiver(spool)
            else:
                self.body_rcv.buf = spool

    class SpoolingChannel(Channel):
        """Reads its requests so."""

        parser_class = Parser

    SpoolingChannel.hooks = hooks

    listeners: dict[int, Any] = {}
    dispatcher = TaskDispatcher()
    options = {"max_request_header_size": MAX_HEAD} | settings
    server = create_server(app, map=listeners, _dispatcher=dispatcher, **options)
    dispatcher.set_thread_count(server.adj.threads)
    for listener in listeners.values():
        if isinstance(listener, BaseWSGIServer):
            listener.channel_class = SpoolingChannel
    return server
