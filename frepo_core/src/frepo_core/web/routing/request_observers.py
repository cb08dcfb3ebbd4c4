"""Calls the observers of plug-ins, such as metrics, after each request."""

import logging
import time
from collections.abc import Callable
from typing import Any

from pyramid.config import Configurator
from pyramid.response import Response

from ..base.request import FrepoRequest
from .server_hooks import DECISION

log = logging.getLogger(__name__)


def includeme(config: Configurator) -> None:
    """Register the tween, over the exception views: it sees their answers."""
    config.add_tween("frepo_core.web.routing.request_observers.make_tween")


def make_tween(handler: Callable[[FrepoRequest], Response], registry: Any) -> Callable[[FrepoRequest], Response]:
    """Return a tween that measures a request and calls the observers of `registry.services`."""

    def observe(request: FrepoRequest) -> Response:
        started = time.perf_counter()
        response = handler(request)
        environ = request.environ
        decision = environ.get(DECISION)
        if decision is None or not decision.is_made:  # else the body arrives now, and the request is handled then
            seconds = time.perf_counter() - started
            # WSGI's own values: WebOb's attributes take five times as long, and every request pays for this.
            path = request.endpoint.path if request.endpoint else ""
            method, length = environ["REQUEST_METHOD"], environ.get("CONTENT_LENGTH") or "0"
            received = int(length) if length.isdigit() else 0
            sent = 0 if method == "HEAD" else _body_length(response)
            status = int(response.status[:3])
            for call in registry.services.request_observers:
                try:
                    call(method, path, status, seconds, received, sent, request.error_name)
                except Exception:
                    log.exception("an observer of requests failed")
        return response

    return observe


def _body_length(response: Response) -> int:
    """Return the announced length of the body, 0 if it is unknown."""
    for name, value in response.headerlist:
        if name == "Content-Length":
            return int(value)
    return 0
