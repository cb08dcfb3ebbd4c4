"""A plug-in whose endpoint gets bodies while they arrive, and what it has seen of them."""

import contextlib
import threading
from dataclasses import replace

from frepo_core.plugins.registry import FoundPlugin, PluginRegistry
from frepo_core.web import Answer, Endpoint, Reply, make_app

SECONDS = 60
PATH = "/api/v1/acme/pieces"


class Size(Reply):
    size: int


class Sink:
    """Keeps what it gets. `fail` is the name of the method that raises `error`."""

    def __init__(self, error=None, fail=""):
        self.error, self.fail = error, fail
        self.pieces, self.ends = [], []
        self.is_open = threading.Event()
        self._busy = threading.Lock()

    @property
    def content(self):
        return b"".join(self.pieces)

    def open(self, request):
        assert not self.is_open.is_set()
        self.is_open.set()
        self._raise("open")
        return self

    def write(self, piece):
        with self._alone():
            assert isinstance(piece, bytes)
            assert not self.ends
            self._raise("write")
            self.pieces.append(piece)

    def ended(self, ok):
        with self._alone():
            self.ends.append(ok)
            self._raise("ended")

    @contextlib.contextmanager
    def _alone(self):
        assert self._busy.acquire(blocking=False), "two calls at once"
        try:
            yield
        finally:
            self._busy.release()

    def _raise(self, name):
        if name == self.fail:
            raise self.error


def pieces_endpoint(open_sink, **more):
    """Return an endpoint that answers how much its sink has got."""

    def view(request):
        return Answer(body=Size(size=len(request.body_sink.content)))

    known = {
        "name": "send_pieces",
        "method": "PATCH",
        "path": PATH,
        "view": view,
        "summary": "Send pieces",
        "permission": "token",
        "body_sink": open_sink,
        "writes": True,
        "answers": {200: Size},
    }
    return Endpoint(**(known | more))


def app_with(services, *endpoints):
    """Return the application with a plug-in that has these endpoints."""
    plugin = FoundPlugin(
        name="acme",
        distribution="frepo-acme",
        version="1",
        storages=[],
        strategies=[],
        endpoints=lambda context: list(endpoints),
    )
    return make_app(replace(services, plugins=PluginRegistry([*services.plugins.found, plugin])))
