"""Asks the application whether a body may arrive, in a worker."""

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
