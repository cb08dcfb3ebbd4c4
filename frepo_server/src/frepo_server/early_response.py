"""Asks the application for a decision before a large body arrives, so that refused bodies are not received."""

import contextlib
import socket
import threading
import time
from typing import Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser

from .application import Decision
from .application_task import ApplicationTask
from .bodies.feed_task import start_feeding
from .decision_task import METHODS_WITHOUT_BODY, DecisionTask, EarlyResponse, accept, is_arriving, note_abort
from .read_size import read_size

# Bodies up to this size, in bytes, are received without a decision, unless they are slow.
MAX_UNDECIDED_BODY = 1 << 20
SLOW_SECONDS = 1.0
# Before the first decision, at most this much is received if it is pending or another request is served before. It does
# not need the disk.
MAX_UNWRITTEN_BODY = 256 << 10


class EarlyResponseChannel(HTTPChannel):  # type: ignore[misc]  # waitress has no types
    """A connection that gets a decision about each large body. It receives and discards the rest of a refused body.

    Closing the connection while the client still sends would reset it, and the client might not get the answer
    (RFC 9112, 9.6).
    """

    task_class = ApplicationTask
    hooks: Any = None
    close_when_flushed: bool
    request: Any
    is_decision_pending = False
    is_discarding = False
    discards_since: float | None = None
    discarded_bytes = 0
    _asked_request: Any = None
    _max_body: int | None = None
    _ignores_input = False
    _is_half_closed = False
    _is_waiting = False

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.requests_lock = threading.RLock()
        self._reader = threading.get_ident()
        # Held while a decision or the end of a body is noted. Nobody waits for another lock meanwhile.
        self.deciding = threading.Lock()

    def received(self, data: bytes) -> bool:
        """Process received bytes, unless they are the rest of a refused body."""
        with self.requests_lock:
            return not self._ignores_input and bool(super().received(data))

    def handle_read(self) -> None:
        """Read from the socket. Ask for a decision when the head of a request has arrived."""
        try:
            data = self.socket.recv(read_size(self))
        except BlockingIOError:
            return
        except OSError:
            self.handle_close()
            return
        if self.is_discarding:
            self.last_activity = time.monotonic()
            self.discarded_bytes += len(data)
            if not data:
                self.handle_close()
        elif data:
            self.last_activity = time.monotonic()
            self.received(data)
            self.check_body()
        else:
            self._handle_end_of_input()

    def _handle_end_of_input(self) -> None:
        """Finish the answers. The client may have closed only its sending side (RFC 9293, 3.6)."""
        with self.requests_lock:
            if self.request is not None:
                note_abort(self, "disconnected")
                self.request.close()
                self.request = None
            self._is_half_closed = True
            if self.requests:
                return  # `service` closes the connection after the last answer
            if self.total_outbufs_len:
                self.close_when_flushed = True
                return
        self.handle_close()

    def check_client_disconnected(self) -> bool:
        """Return whether the client has closed the connection, or its sending side, while its request is served.

        The connection is not read meanwhile, so look at the next byte without taking it.
        """
        try:
            return not self.connected or not self.socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def check_body(self) -> None:
        """Ask for a decision about the body of the current request, if it needs one.

        A small body needs one if it does not arrive within a second: the application learns when the request began.
        """
        with self.requests_lock:
            request = self.request
            if request is None or self.requests or not is_arriving(request) or self.hooks is None:
                return
            if request.command in METHODS_WITHOUT_BODY:
                self._serve_without_body(request)
            elif request.feed is not None:
                start_feeding(self, request)
            elif self._asked_request is not request:
                is_large = request.chunked or request.content_length > MAX_UNDECIDED_BODY
                if is_large or request.expect_continue or time.monotonic() > request.started_at + SLOW_SECONDS:
                    self._ask(request)
            elif self.is_decision_pending:
                return
            elif request.body_rcv.buf.has_failed:
                self._serve_now(request)
            elif self._is_too_long(request):
                self._ask(request)

    def _is_too_long(self, request: Any) -> bool:
        # The reading thread asks without a lock: a worker may change an attribute after it was read once.
        body, most = request.body_rcv, self._max_body
        return body is not None and most is not None and len(body) > most

    def send_continue(self) -> None:
        """Send `100 Continue`, once the application has allowed the body (RFC 9110, 10.1.1)."""
        request = self.request
        if request.completed:  # it has no body, or could not be parsed
            return
        if self.hooks is None or (self._asked_request is request and not self.is_decision_pending):
            super().send_continue()
        elif self._asked_request is not request and request.command not in METHODS_WITHOUT_BODY:
            self._ask(request)

    def _ask(self, request: HTTPRequestParser) -> None:
        if self._asked_request is not request:
            self._max_body = MAX_UNWRITTEN_BODY
        with self.deciding:
            if request.aborted:
                return
            self._asked_request, self.is_decision_pending = request, True
            task = DecisionTask(self, request)
        self.server.task_dispatcher.add_task(task)

    def handle_decision(self, request: HTTPRequestParser, decision: Decision | None) -> None:
        """Apply the decision, in a worker. Without a decision, the connection is closed."""
        with self.requests_lock:
            with self.deciding:
                self.is_decision_pending = False
                is_complete = request in self.requests
                if decision is not None and (decision.sink is not None or not is_complete):
                    accept(request, decision)
                waiting = request.aborted or (self if is_complete and self._is_waiting else None)
                self._is_waiting = False
            if waiting:
                self.server.task_dispatcher.add_task(waiting)
            elif self.request is request:
                self._apply_decision(request, decision)
        self.server.pull_trigger()

    def _apply_decision(self, request: Any, decision: Decision | None) -> None:
        if decision is None:
            self.will_close = True
        elif decision.refusal:
            status, headers, body = decision.refusal
            request.error = EarlyResponse(status=status, headers=headers, body=body)
            self._serve_now(request)
        elif not decision.needs_body:
            self._serve_without_body(request)
        else:
            self._max_body = decision.max_body
            self._invite_body(request)
            if request.feed is not None:
                start_feeding(self, request)

    def handle_fed(self, request: Any, is_wanted: bool) -> None:
        """Read further, in a worker that has handed over pieces of a body; if it is refused, answer now."""
        with self.requests_lock:
            if not is_wanted and self.request is request and self.connected:
                self._serve_now(request)
        self.server.pull_trigger()

    @property
    def waits_for_application(self) -> bool:
        """Whether the application decides about the body, or is taking what was read of it."""
        request = self.request
        feed = request.feed if request else None
        return self.is_decision_pending or bool(feed and feed.has_worker)

    def is_deciding_about(self, request: Any) -> bool:
        """Return whether a decision about the request is pending."""
        return self.is_decision_pending and self._asked_request is request

    def _invite_body(self, request: HTTPRequestParser) -> None:
        # The lock keeps other threads from closing the connection, and from sending the same bytes.
        with (
            self.outbuf_lock,
            contextlib.suppress(OSError),
        ):  # the client has closed the connection; the next read handles it
            if self.connected and request.expect_continue and not self.sent_continue:
                self.send_continue()

    def _serve_without_body(self, request: Any) -> None:
        """Serve the request without its body."""
        request.close()
        request.body_rcv = None
        request.headers.pop("CONTENT_LENGTH", None)
        self._serve_now(request)

    def _serve_now(self, request: Any) -> None:
        """Serve the request before its body has arrived. The connection is closed after the answer."""
        request.completed, request.expect_continue = True, False
        request.headers["CONNECTION"] = "close"
        self.request, self._ignores_input = None, True
        self.requests.append(request)
        if len(self.requests) == 1:
            self.server.add_task(self)

    def service(self) -> None:
        """Serve a request, then check the body of the next one, which had to wait.

        If its body arrived while the application decides about it, `handle_decision` serves it.
        """
        with self.deciding:
            self._is_waiting = self.is_deciding_about(self.requests[0])
            if self._is_waiting:
                return
        feed = self.requests[0].feed
        if feed:
            feed.hand_over()
        super().service()
        if feed:
            feed.end()
        with self.requests_lock:
            if self.requests:
                return
            if self._is_half_closed:
                self.close_when_flushed = True
            else:
                self.check_body()
        self.server.pull_trigger()

    def readable(self) -> bool:
        """Return whether to read. While a decision or a sink is pending, nothing beyond the allowed size is."""
        if self.is_discarding:
            return True
        if self._ignores_input or self._is_half_closed or (self.request is not None and self._is_full()):
            return False
        return bool(super().readable())

    def _is_full(self) -> bool:
        request = self.request
        body = None if request is None else request.body_rcv
        if request is None or body is None:
            return False
        if request.feed is not None:
            return bool(request.feed.is_full)
        if self.requests and self.hooks is not None:  # `check_body` asks when they are served
            return len(body) > MAX_UNWRITTEN_BODY
        return self.is_deciding_about(request) and self._is_too_long(request)

    def handle_write(self) -> None:
        """Send the answer. If the rest of a refused body still arrives, keep the connection open after it."""
        if not self._ignores_input:
            super().handle_write()
            return
        self._flush_exception(self._flush_some_if_lockable if self.requests else self._flush_some)
        if self.connected and self.close_when_flushed and not self.total_outbufs_len:
            self.close_when_flushed, self.is_discarding = False, True
            with contextlib.suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)
        if self.will_close:
            self.handle_close()

    def _flush_some(self, do_close: bool = True) -> bool:
        """Send queued bytes. A lock is needed: a worker may send `100 Continue` at the same time.

        Only the reading thread closes the connection. If a worker did, the next connection could get the same file
        descriptor, and the reading thread would apply this connection's events to it.
        """
        with self.outbuf_lock:
            return bool(super()._flush_some(do_close and threading.get_ident() == self._reader))

    def handle_close(self, reason: str = "disconnected") -> None:
        """Close the connection, and delete an incomplete body. `reason` is why it did not end."""
        note_abort(self, reason)
        super().handle_close()
        if self.request is not None:
            self.request.close()
