"""What the application is asked and told about bodies that have not arrived, in a worker."""

import copy
from io import BytesIO
from typing import Any

from waitress.parser import HTTPRequestParser

from .application import Decision, ServerHooks
from .application_task import ApplicationTask


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

    If the application has not decided about the request yet, it is asked first: it learns whose body this was.
    """

    def __init__(self, channel: Any, request: Any, reason: str) -> None:
        self._channel, self._request, self._reason = channel, request, reason
        self._received = len(request.body_rcv)

    def service(self) -> None:
        """Tell the application."""
        request, hooks = self._request, self._channel.hooks
        environ = request.decided_environ if request.is_decided else self._ask(hooks)
        if environ is not None:
            size = None if request.chunked else request.content_length
            hooks.body_aborted(environ, received=self._received, size=size, reason=self._reason)

    def cancel(self) -> None:
        """Do nothing: the process ends."""

    def _ask(self, hooks: ServerHooks) -> Any:
        """Return what the application has found about the request; None if it refuses it."""
        self._request.body_rcv = None  # it is deleted
        decision = hooks.decide(ApplicationTask(self._channel, self._request).get_environment())
        return None if decision.refusal else decision.environ
