"""Asks the application about a request before its body arrives: a refused body need not be sent, or kept."""

import contextlib
import copy
import socket
import threading
import time
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.task import WSGITask

from .application import Decision, ServerHooks

# A body up to this size is taken in without asking, in bytes.
UNASKED = 1 << 20
WITHOUT_BODY = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, kw_only=True)
class EarlyAnswer:
    """What the application answers without the body; a refusal."""

    status: str
    headers: list[tuple[str, str]]
    body: bytes


class DecidedTask(WSGITask):  # type: ignore[misc]  # waitress has no types
    """Tells the application whether it was asked about this request before."""

    def get_environment(self) -> dict[str, Any]:
        """Return WSGI's environment."""
        environ: dict[str, Any] = super().get_environment()
        environ["frepo.decided"] = getattr(self.request, "is_decided", False)
        return environ


class Question:
    """A task for a worker: the application decides about a request without its body.

    It is asked again when the body has become longer than it allowed. `length` is then what has arrived so far.
    """

    def __init__(self, channel: "AskingChannel", request: HTTPRequestParser, length: int | None = None) -> None:
        self._channel, self._request, self._length = channel, request, length

    def service(self) -> None:
        """Hand the decision to the channel."""
        decision = None
        try:
            decision = self._ask()
        finally:
            self._channel.decided(self._request, decision)

    def cancel(self) -> None:
        """Leave it open: the process ends."""

    def _ask(self) -> Decision:
        request = copy.copy(self._request)
        request.get_body_stream = BytesIO
        environ = WSGITask(self._channel, request).get_environment()
        if self._length is not None:
            environ["CONTENT_LENGTH"] = str(self._length)
        hooks: ServerHooks = self._channel.hooks
        return hooks.decide(environ)


class AskingChannel(HTTPChannel):  # type: ignore[misc]  # waitress has no types
    """A connection that asks about each large body. It drops the rest of a body that is not wanted as it arrives.

    Closing while the client still sends would reset the connection, and the client might never see the answer.
    """

    task_class = DecidedTask
    hooks: Any = None
    close_when_flushed: bool
    request: Any
    is_answered = True
    is_forgetting = False
    forgets_since: float | None = None
    forgotten_bytes = 0
    _asked: Any = None
    _max_body: int | None = UNASKED
    _drops_rest = False
    _client_has_ended = False

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.requests_lock = threading.RLock()
        self._reader = threading.get_ident()

    def received(self, data: bytes) -> bool:
        """Take in what was read; the rest of a dropped body is not the next request."""
        with self.requests_lock:
            return not self._drops_rest and bool(super().received(data))

    def handle_read(self) -> None:
        """Read; ask when the head of a request has arrived."""
        try:
            data = self.socket.recv(self.adj.recv_bytes)
        except BlockingIOError:
            return
        except OSError:
            self.handle_close()
            return
        if self.is_forgetting:
            self.last_activity = time.monotonic()
            self.forgotten_bytes += len(data)
            if not data:
                self.handle_close()
        elif data:
            self.last_activity = time.monotonic()
            self.received(data)
            self._look_at_body()
        else:
            self._end_of_client()

    def _end_of_client(self) -> None:
        """Answer what has arrived. The client may have closed its sending side only (RFC 9293, 3.6)."""
        with self.requests_lock:
            if self.request is not None:
                self.request.close()
                self.request = None
            self._client_has_ended = True
            if self.requests:
                return  # `service` closes after the last answer
            if self.total_outbufs_len:
                self.close_when_flushed = True
                return
        self.handle_close()

    def _look_at_body(self) -> None:
        """Ask about the body of the request that is arriving, if it has to be asked about."""
        with self.requests_lock:
            request = self.request
            if request is None or self.requests or not _is_arriving(request) or self.hooks is None:
                return
            if request.command in WITHOUT_BODY:
                self._serve_without_body(request)
            elif self._asked is not request:
                if request.chunked or request.expect_continue or request.content_length > UNASKED:
                    self._ask(request)
            elif self.is_answered and self._is_too_long(request):
                self._ask(request, len(request.body_rcv))

    def _is_too_long(self, request: Any) -> bool:
        return self._max_body is not None and len(request.body_rcv) > self._max_body

    def send_continue(self) -> None:
        """Tell the client to send the body, once the application has decided about it (RFC 9110, 10.1.1)."""
        request = self.request
        if request.completed:  # it has no body, or is broken: the application is not for it, or not yet
            return
        if self.hooks is None or (self._asked is request and self.is_answered):
            super().send_continue()
        elif self._asked is not request and request.command not in WITHOUT_BODY:
            self._ask(request)

    def _ask(self, request: HTTPRequestParser, length: int | None = None) -> None:
        self._asked, self.is_answered = request, False
        self.server.task_dispatcher.add_task(Question(self, request, length))

    def decided(self, request: HTTPRequestParser, decision: Decision | None) -> None:
        """Go on with the request as decided, in a worker. Without a decision the connection is closed."""
        with self.requests_lock:
            self.is_answered = True
            if self.request is request:
                self._follow(request, decision)
        self.server.pull_trigger()

    def _follow(self, request: Any, decision: Decision | None) -> None:
        if decision is None:
            self.will_close = True
        elif decision.refusal:
            status, headers, body = decision.refusal
            request.error = EarlyAnswer(status=status, headers=headers, body=body)
            self._serve_now(request)
        elif not decision.needs_body:
            self._serve_without_body(request)
        else:
            request.is_decided = True
            self._max_body = decision.max_body
            self._welcome(request)

    def _welcome(self, request: HTTPRequestParser) -> None:
        # With the lock, no other thread closes the connection, or sends the same bytes, meanwhile.
        with self.outbuf_lock, contextlib.suppress(OSError):  # the client is gone; who reads will see it
            if self.connected and request.expect_continue and not self.sent_continue:
                self.send_continue()

    def _serve_without_body(self, request: Any) -> None:
        """Serve the request as if it had no body."""
        request.close()
        request.body_rcv = None
        request.headers.pop("CONTENT_LENGTH", None)
        self._serve_now(request)

    def _serve_now(self, request: Any) -> None:
        """Serve the request although its body has not arrived; the connection ends with the answer."""
        request.completed, request.expect_continue = True, False
        request.headers["CONNECTION"] = "close"
        self.request, self._drops_rest = None, True
        self.requests.append(request)
        if len(self.requests) == 1:
            self.server.add_task(self)

    def service(self) -> None:
        """Serve a request; then look at the next one, whose body may have waited for this."""
        super().service()
        with self.requests_lock:
            if self.requests:
                return
            if self._client_has_ended:
                self.close_when_flushed = True
            else:
                self._look_at_body()
        self.server.pull_trigger()

    def readable(self) -> bool:
        """Tell whether to read: not beyond what may be kept until the application has decided."""
        if self.is_forgetting:
            return True
        if self._drops_rest or self._client_has_ended or self._waits_for_decision():
            return False
        return bool(super().readable())

    def _waits_for_decision(self) -> bool:
        request = self.request
        if self.hooks is None or request is None or request.body_rcv is None:
            return False
        is_decided = self._asked is request and self.is_answered
        return len(request.body_rcv) > UNASKED and not is_decided

    def handle_write(self) -> None:
        """Send; while the rest of a body arrives, the end of the answer is not the end of the connection."""
        if not self._drops_rest:
            super().handle_write()
            return
        self._flush_exception(self._flush_some_if_lockable if self.requests else self._flush_some)
        if self.connected and self.close_when_flushed and not self.total_outbufs_len:
            self.close_when_flushed, self.is_forgetting = False, True
            with contextlib.suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)
        if self.will_close:
            self.handle_close()

    def _flush_some(self, do_close: bool = True) -> bool:
        """Send what there is; `100 Continue` comes from a worker while waitress takes none to be at it.

        A worker never closes: the next connection would get the number of this one, and what was seen of it.
        """
        with self.outbuf_lock:
            return bool(super()._flush_some(do_close and threading.get_ident() == self._reader))

    def handle_close(self) -> None:
        """Close the connection, and delete a body that will never be whole."""
        super().handle_close()
        if self.request is not None:
            self.request.close()


def _is_arriving(request: HTTPRequestParser) -> bool:
    """Tell whether the head is there, and the end of the body is not."""
    return bool(request.headers_finished and not request.completed and not request.error)
