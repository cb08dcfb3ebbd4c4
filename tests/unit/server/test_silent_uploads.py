"""A body of a client that the application knows may be silent for longer, four of them at the same time."""

import contextlib
from types import SimpleNamespace

import pytest

from frepo_server.idle_timeout import Timeouts
from support.servers.in_process import MemoryBuffer, running_server
from support.wire import Wire, head


def application(environ, start_response):
    body = environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


def decide(environ):
    return SimpleNamespace(
        refusal=None, needs_body=True, max_body=None, environ={}, sink=None, owner=environ.get("HTTP_X_OWNER") or None
    )


@pytest.fixture
def serve():
    """Start a server that closes silent connections after a second."""

    def serve(**timeouts):
        hooks = SimpleNamespace(new_buffer=lambda *_: MemoryBuffer(), decide=decide)
        return running_server(application, hooks, Timeouts(**timeouts), channel_timeout=1, cleanup_interval=1)

    return serve


def begin(server, owner):
    """Send the head and the half of a body."""
    wire = Wire(server)
    return wire.send(head("POST", "/", f"X-Owner: {owner}", "Transfer-Encoding: chunked"), b"6\r\nhal")


def finish(wire):
    return wire.send(b"ves\r\n0\r\n\r\n").reply().body


@pytest.mark.slow
def test_four_silent_bodies_of_a_client_stay_open_and_the_longest_silent_ones_are_closed(serve):
    with serve() as server, contextlib.ExitStack() as stack:
        owners = ["cron"] * 6 + ["other", ""]
        *wires, other, unknown = [stack.enter_context(begin(server, owner)) for owner in owners]

        assert [b"", b"", b""] == [wire.rest() for wire in (*wires[:2], unknown)]
        assert {b"halves"} == {finish(wire) for wire in (*wires[2:], other)}


@pytest.mark.slow
def test_a_known_client_may_be_silent_until_the_limit_for_uploads(serve):
    with serve(upload_idle=2) as server, begin(server, "cron") as wire:
        assert b"" == wire.rest()


def test_the_limit_for_uploads_has_a_unit():
    for text, seconds in [("90", 90), ("30s", 30), ("2m", 120), ("1h", 3600), ("1.5 h", 5400)]:
        assert seconds == Timeouts.from_settings({"upload_idle": text})[0].upload_idle, text


def test_a_limit_that_is_no_length_of_time_is_refused():
    for text in ["", "0h", "h", "1d", "-5"]:
        with pytest.raises(ValueError, match="upload_idle"):
            Timeouts.from_settings({"upload_idle": text})
