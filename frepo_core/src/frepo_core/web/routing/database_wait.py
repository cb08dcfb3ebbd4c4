"""Limits how long a request waits for the database."""

import time
from collections.abc import Callable
from typing import Any

from pyramid.config import Configurator
from pyramid.response import Response

from ..base.request import FrepoRequest
from .server_hooks import DECISION

LARGE_UPLOAD = 64 << 20
RECEIVED = "frepo.received_at"  # key of the WSGI environment: when the request was complete, by `time.monotonic`


def includeme(config: Configurator) -> None:
    """Register the tween, over the exception views."""
    config.add_tween("frepo_core.web.routing.database_wait.make_tween")


def make_tween(handler: Callable[[FrepoRequest], Response], registry: Any) -> Callable[[FrepoRequest], Response]:
    """Return a tween that limits the waits of a request, counted from the end of its body.

    An upload above `LARGE_UPLOAD` has arrived by then: a failover of the database must not discard it.
    """
    database, settings = registry.services.database, registry.services.settings
    seconds, longer = settings.database_max_wait, settings.database_max_wait_stored

    def answer(request: FrepoRequest) -> Response:
        environ = request.environ
        length = environ.get("CONTENT_LENGTH") or ""
        is_large = length.isdigit() and int(length) > LARGE_UPLOAD and DECISION not in environ
        queued = time.monotonic() - environ[RECEIVED] if RECEIVED in environ else 0
        with database.request(max(seconds - queued, min(seconds, 1)), max(longer - seconds, 0) if is_large else 0):
            return handler(request)

    return answer
