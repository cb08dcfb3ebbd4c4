"""What the application is asked and told about bodies that have not arrived, in a worker."""

import copy
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from waitress.parser import HTTPRequestParser

from .application import Decision, ServerHooks
from .application_task import ApplicationTask
from .bodies.body_spool import BodySpool

# How long the end of the process waits for the application to take what has arrived of a body, in seconds.
STOP_SECONDS = 5.0
METHODS_WITHOUT_BODY = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, kw_only=True)
class EarlyResponse:
    """The application's answer to a refused request."""

    status: str
    headers: list[tuple[str, str]]
    body: bytes


class DecisionTask:
    """A task for a worker: ask the application for its decision.

    If the body exceeds the allowed size, the application is asked again.
    """

    def __init__(self, channel: Any, request: HTTPRequestParser) -> None:
        # More of the body may arrive meanwhile.
        self._arrived, self._buffer = len(request.body_rcv), request.body_rcv.buf.buffer
        self._channel, self._request = channel, request

    def service(self) -> None:
        """Pass the decision to the channel."""
        decision = None
        try:
            decision = self._ask()
        finally:
            self._channel.handle_decision(self._request, decision)

    def cancel(self) -> None:
        """Do nothing: the process ends."""

    def _ask(self) -> Decision:
        request = copy.copy(self._request)
        request.get_body_stream = BytesIO
        environ = ApplicationTask(self._channel, request).get_environment()
        environ |= {"frepo.buffer": self._buffer, "frepo.arrived": self._arrived, "frepo.chunked": request.chunked}
        if request.chunked and self._arrived:
            environ["CONTENT_LENGTH"] = str(self._arrived)
        hooks: ServerHooks = self._channel.hooks
        return hooks.decide(environ)


class AbortedBodyTask:
    """A task for a worker: tell the application that a body will not end, after how many bytes and why.

    If the application has not decided about the request yet, it is asked first: it learns whose body this was, and
    gets what has arrived if it takes bodies while they arrive.
    """

    def __init__(self, channel: Any, request: Any, reason: str) -> None:
        self._channel, self._request, self._reason = channel, request, reason
        self.receiver, request.body_rcv = request.body_rcv, None  # it must not be deleted before

    def service(self) -> None:
        """Tell the application, and delete the body."""
        request, hooks = self._request, self._channel.hooks
        received = len(self.receiver)
        try:
            if not request.is_decided:
                accept(request, hooks.decide(ApplicationTask(self._channel, request).get_environment()))
            if request.feed is not None:
                request.feed.end()
            if request.is_decided:
                size = None if request.chunked else request.content_length
                hooks.body_aborted(request.decided_environ, received=received, size=size, reason=self._reason)
        finally:
            spool_of(self.receiver).close()

    def cancel(self) -> None:
        """Tell an application that takes the body while it arrives, as the process ends."""
        if self._request.feed is not None:
            self._request.feed.end(STOP_SECONDS)


def note_abort(channel: Any, reason: str) -> None:
    """Tell the application that the body that is arriving will not end, once for each.

    While it decides about this body, `handle_decision` tells it afterwards.
    """
    request = channel.request
    if channel.hooks is None or request is None or request.aborted or not is_arriving(request):
        return
    if request.command not in METHODS_WITHOUT_BODY and request.body_rcv is not None:
        with channel.deciding:
            request.aborted = AbortedBodyTask(channel, request, reason)
            is_pending = channel.is_deciding_about(request)
        if not is_pending:
            channel.server.task_dispatcher.add_task(request.aborted)


def is_arriving(request: HTTPRequestParser) -> bool:
    """Return whether the head has arrived, and the body is incomplete."""
    return bool(request.headers_finished and not request.completed and not request.error)


def accept(request: Any, decision: Decision) -> None:
    """Note the first decision about a request, unless it is refused. Its body goes to the sink of the decision."""
    if request.is_decided or decision.refusal:
        return
    request.is_decided, request.decided_environ, request.owner = True, decision.environ, decision.owner
    if decision.sink is not None:
        receiver = request.aborted.receiver if request.aborted else request.body_rcv
        request.feed = spool_of(receiver).feed_to(decision.sink)


def spool_of(receiver: Any) -> BodySpool:
    """Return the spool of a body. That of a chunked one has another place."""
    spool: BodySpool = getattr(receiver, "spool", receiver.buf)
    return spool
