"""Asks the application about a large body before it comes: what is refused anyway need not be sent."""

import contextlib
import copy
import socket
import threading
import time
from dataclasses import dataclass
from typing import Any, NoReturn

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.task import WSGITask

LARGE = 1 << 20


class WantedError(BaseException):
    """The application begins to read the body. It is no fault, so that nobody takes it for one on its way out."""


class Unread:
    """Stands for the body. Whoever reads it has no reason left to answer without it."""

    def read(self, size: int = -1) -> NoReturn:
        """Never return."""
        raise WantedError

    readline = readlines = readinto = __iter__ = read


@dataclass(frozen=True, kw_only=True)
class EarlyAnswer:
    """What the application answered without the body: nearly always a refusal."""

    status: str
    headers: list[tuple[str, str]]
    body: bytes


class Question:
    """A task for a worker: the request goes its usual way through the application, as far as the body is read.

    Nothing has been changed by then, as no transaction is open while bytes move. Meanwhile the body may come in.
    """

    def __init__(self, channel: "AskingChannel", request: HTTPRequestParser) -> None:
        self._channel, self._request = channel, request

    def service(self) -> None:
        """Tell the channel what the application said."""
        answer = None
        try:
            answer = self._ask()
        finally:
            self._channel.answered(self._request, answer)

    def cancel(self) -> None:
        """Leave it open: the process ends."""

    def _ask(self) -> EarlyAnswer | None:
        request = copy.copy(self._request)
        request.get_body_stream = Unread
        environ = WSGITask(self._channel, request).get_environment()
        told: list[Any] = []
        try:
            pieces = self._channel.server.application(environ, lambda *answer: told.extend(answer[:2]))
            with contextlib.closing(pieces) if hasattr(pieces, "close") else contextlib.nullcontext():
                body = b"".join(pieces)
        except WantedError:
            return None
        return EarlyAnswer(status=told[-2], headers=told[-1], body=body)


class AskingChannel(HTTPChannel):  # type: ignore[misc]  # waitress has no types
    """A connection that asks about each large body. Where it is not wanted, the rest of it is forgotten as it comes.

    Closing while the client still sends would reset the connection, and the client might never see the answer.
    """

    close_when_flushed: bool
    _asked: HTTPRequestParser | None = None
    is_answered = True
    _is_due = False  # a worker found the request complete before the answer
    _is_refused = False
    is_forgetting = False

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.requests_lock = threading.RLock()
        self._reader = threading.get_ident()

    def received(self, data: bytes) -> bool:
        """Take in what was read; the rest of a refused body is not the next request."""
        with self.requests_lock:
            return not self._is_refused and bool(super().received(data))

    def handle_read(self) -> None:
        """Read; ask when the head of a request has come."""
        if self.is_forgetting:
            self._forget()
            return
        super().handle_read()
        with self.requests_lock:
            if self.request is not None and not self.requests and _is_awaited(self.request):
                self._ask(self.request)

    def send_continue(self) -> None:
        """Tell the client to send the body, which is for after the answer (RFC 9110, 10.1.1)."""
        request: Any = self.request
        if request.completed:  # it has no body, or is broken: the application is not for it, or not yet
            return
        if not _may_be_refused(request):
            super().send_continue()
        elif self._asked is not request:
            self._ask(request)
        elif self.is_answered:
            super().send_continue()

    def _ask(self, request: HTTPRequestParser) -> None:
        if self._asked is not request:
            self._asked, self.is_answered = request, False
            self.server.task_dispatcher.add_task(Question(self, request))

    def answered(self, request: HTTPRequestParser, answer: EarlyAnswer | None) -> None:
        """Go on with the request, in a worker."""
        with self.requests_lock:
            self.is_answered = True
            request.error = answer or request.error  # what was answered may be done, however broken the rest is
            if self.request is request:
                self._answer_early(request) if answer else self._welcome(request)
            if self._is_due:
                self._is_due = False
                self.server.add_task(self)
        self.server.pull_trigger()

    def _welcome(self, request: HTTPRequestParser) -> None:
        # With the lock, no other thread closes the connection, or sends the same bytes, meanwhile.
        with self.outbuf_lock, contextlib.suppress(OSError):  # the client is gone; who reads will see it
            if self.connected and request.expect_continue and not self.sent_continue:
                self.send_continue()

    def _answer_early(self, request: HTTPRequestParser) -> None:
        request.completed, request.expect_continue = True, False
        self.request, self._is_refused = None, True
        self.requests.append(request)
        self.server.add_task(self)

    def service(self) -> None:
        """Serve the request, once it is known whether it has an answer already."""
        with self.requests_lock:
            if self.requests[0] is self._asked and not self.is_answered:
                self._is_due = True
                return
        super().service()

    def readable(self) -> bool:
        """Tell whether more may come: what is forgotten, and what is wanted."""
        return self.is_forgetting or (not self._is_refused and bool(super().readable()))

    def handle_write(self) -> None:
        """Send; where the rest of a body is on its way, the end of the answer is not the end of the connection."""
        if not self._is_refused:
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
        """Close the connection, and let go of a body that will never be whole."""
        super().handle_close()
        if self.request is not None:
            self.request.close()

    def _forget(self) -> None:
        self.last_activity = time.monotonic()
        try:
            self.recv(self.adj.recv_bytes)  # closes the connection at its end
        except OSError:
            self.handle_close()


def _is_awaited(request: HTTPRequestParser) -> bool:
    """Tell whether the head is there, and a body that is large, or may be, is not."""
    if not request.headers_finished or request.completed or request.error or not _may_be_refused(request):
        return False
    return bool(request.chunked or request.expect_continue or request.content_length > LARGE)


def _may_be_refused(request: HTTPRequestParser) -> bool:
    """Tell whether an answer without the body is a refusal: what is only looked at may be any number of gigabytes."""
    return request.command not in {"GET", "HEAD"}
