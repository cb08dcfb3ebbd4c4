"""A request that arrives right after another one started does not wait for its end."""

import contextlib
import threading

import pytest

from frepo_server import graceful_shutdown
from support.servers.in_process import running_server
from support.wire import Wire, head

SECONDS = 20


class Application:
    """`/wait` is answered after `/release` was requested, anything else at once."""

    def __init__(self):
        self.is_released = threading.Event()

    def __call__(self, environ, start_response):
        if environ["PATH_INFO"] == "/release":
            self.is_released.set()
        if environ["PATH_INFO"] == "/wait":
            assert self.is_released.wait(SECONDS)
        start_response("200 OK", [("Content-Length", "0")])
        return []


@pytest.fixture
def connect(monkeypatch):
    """Open a connection to a server with four threads, whose poll waits for a minute if nothing happens."""
    monkeypatch.setattr(graceful_shutdown, "MAX_WAIT", 60)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(running_server(Application(), threads=4))
        yield lambda: stack.enter_context(Wire(server))


def ask(connection, *paths):
    connection.send(*(head("GET", path) for path in paths))


@pytest.mark.parametrize("first", [["/wait"], ["/now", "/wait"], ["/now", "/now", "/wait"]])
def test_waiting_requests_do_not_hold_up_the_one_that_ends_them(connect, first):
    waiting, last = [connect() for _ in range(3)], connect()
    for connection in waiting:
        ask(connection, *first)
    ask(last, "/release")

    for connection, count in [(last, 1), *((each, len(first)) for each in waiting)]:
        assert [200] * count == [connection.reply().status for _ in range(count)]
