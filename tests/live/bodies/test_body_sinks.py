"""An endpoint with a sink gets its body while it arrives, also if the body does not end."""

import contextlib
import socket
import struct
import threading
import time
from types import SimpleNamespace

import pytest
from waitress import wasyncore
from waitress.server import create_server

from frepo_core.domain.roles import Role
from frepo_core.errors import StorageFull
from frepo_core.plugins import EndpointError
from frepo_server.bodies.body_feed import QUEUED_BYTES
from frepo_server.idle_timeout import Timeouts
from support.contract.body_sinks import PATH, Sink, app_with, pieces_endpoint
from support.scale import first_of
from support.servers.in_process import running_server
from support.wire import Wire, chunked, eventually, head

MIB = 1 << 20
LENGTHS = {"with its length": "Content-Length: {}", "chunked": "Transfer-Encoding: chunked"}


def reset(wire):
    """Reset the connection, as a killed process does."""
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()


@pytest.fixture
def serve(services):
    """Serve endpoints of a plug-in in frepo-server; return its address."""
    with contextlib.ExitStack() as stack:

        def serve(*endpoints, stop_seconds=5, timeouts=None, **options):
            app = app_with(services, *endpoints)
            return stack.enter_context(running_server(app, app.server_hooks, timeouts, stop_seconds, **options))

        yield serve


@pytest.fixture
def patch(admin):
    """Write the head of a request to the endpoint."""
    return lambda *fields, method="PATCH": head(method, PATH, f"X-Auth-Token: {admin}", *fields)


@pytest.mark.parametrize("length", LENGTHS)
def test_pieces_arrive_before_the_body_is_complete(serve, patch, length):
    sink, parts = Sink(), [bytes([number]) * 700_000 for number in range(5)]
    with Wire(serve(pieces_endpoint(sink.open))) as wire:
        wire.send(patch(LENGTHS[length].format(3_500_000)))
        for number, part in enumerate(parts[:-1], 1):
            wire.send(chunked([part], end=b"") if length == "chunked" else part)
            assert number * 700_000 == eventually(number * 700_000, lambda: len(sink.content))
        assert [] == sink.ends
        reply = wire.send(chunked(parts[-1:]) if length == "chunked" else parts[-1]).reply()

    assert (200, {"size": 3_500_000}) == (reply.status, reply.json)
    assert (b"".join(parts), [True]) == (sink.content, sink.ends)


@pytest.mark.parametrize("size", first_of([3 * MIB, 0, 5, 700_000]))
@pytest.mark.parametrize("expect", [["Expect: 100-continue"], []], ids=["with Expect", "without Expect"])
def test_a_body_of_any_size_arrives_whole(serve, patch, size, expect):
    sink, body = Sink(), bytes(range(256)) * (size // 256) + bytes(size % 256)
    with Wire(serve(pieces_endpoint(sink.open))) as wire:
        wire.send(patch(f"Content-Length: {size}", *expect))
        if expect and size:
            assert wire.socket.recv(100).startswith(b"HTTP/1.1 100")
        reply = wire.send(body).reply()

    assert (200, size, [True]) == (reply.status, reply.json["size"], sink.ends)
    assert body == sink.content


@pytest.mark.parametrize("end", [Wire.close, Wire.half_close, reset])
@pytest.mark.parametrize("sent", first_of([600_000, 0, 1000, 3 * MIB]))
@pytest.mark.parametrize("length", LENGTHS)
def test_a_broken_connection_ends_the_body_after_all_its_pieces(serve, patch, end, sent, length):
    sink = Sink()
    with Wire(serve(pieces_endpoint(sink.open), cleanup_interval=1)) as wire:
        wire.send(patch(LENGTHS[length].format(sent + 1000)))
        wire.send(chunked([bytes(sent)], end=b"") if length == "chunked" and sent else bytes(sent))
        if end is reset:  # it discards what the kernel has not delivered
            assert sent > MIB or sent < 1000 or eventually(True, sink.is_open.is_set)
            assert sent == eventually(sent, lambda: len(sink.content))
        end(wire)

        assert [False] == eventually([False], lambda: sink.ends)
    assert sent == len(sink.content)


def test_one_connection_sends_several_bodies(serve, patch):
    sinks = [Sink() for _ in range(3)]
    opened = iter(sinks)
    with Wire(serve(pieces_endpoint(lambda request: next(opened).open(request)))) as wire:
        replies = [wire.send(patch(f"Content-Length: {2 * MIB}"), bytes(2 * MIB)).reply() for _ in sinks]

    assert [2 * MIB] * 3 == [reply.json["size"] for reply in replies]
    assert [[True]] * 3 == [sink.ends for sink in sinks]


def test_bodies_that_were_sent_at_once_are_served_in_turn(serve, patch):
    sinks = [Sink() for _ in range(3)]
    opened = iter(sinks)
    with Wire(serve(pieces_endpoint(lambda request: next(opened).open(request)))) as wire:
        wire.send(b"".join(patch("Content-Length: 5") + b"hello" for _ in sinks))
        assert [5] * 3 == [wire.reply().json["size"] for _ in sinks]

    assert [[True]] * 3 == [sink.ends for sink in sinks]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("error", "status"), [(EndpointError(460, "wrong"), 460), (StorageFull("no room"), 507)])
def test_an_error_of_the_sink_is_answered_while_the_client_sends(serve, patch, length, error, status):
    sink = Sink(error, "write")
    with Wire(serve(pieces_endpoint(sink.open))) as wire:
        wire.send(patch(LENGTHS[length].format(100 * MIB)))
        for _ in range(20):
            wire.send(chunked([bytes(MIB)], end=b"") if length == "chunked" else bytes(MIB))
        reply = wire.reply()

    assert (status, "close", [False]) == (reply.status, reply.headers["Connection"], sink.ends)
    assert b"" == sink.content


@pytest.mark.parametrize("size", [5, 3 * MIB])
@pytest.mark.parametrize("fail", ["open", "write", "ended"])
def test_no_view_is_called_if_the_sink_fails(serve, patch, fail, size):
    sink, called = Sink(EndpointError(423, "locked", headers={"Retry-After": "7"}), fail), []
    endpoint = pieces_endpoint(sink.open, view=called.append)
    with Wire(serve(endpoint)) as wire:
        reply = wire.send(patch(f"Content-Length: {size}"), bytes(size)).reply()

    assert (423, "7", []) == (reply.status, reply.headers["Retry-After"], called)
    assert {"open": [], "write": [False], "ended": [True]}[fail] == sink.ends


def test_a_sink_that_breaks_is_500_and_named(serve, patch, caplog):
    sink = Sink(RuntimeError("no paint"), "write")
    with Wire(serve(pieces_endpoint(sink.open))) as wire:
        reply = wire.send(patch(f"Content-Length: {3 * MIB}"), bytes(3 * MIB)).reply()

    assert 500 == reply.status
    assert "the sink of the endpoint 'send_pieces' (the plug-in 'acme' of the package frepo-acme" in caplog.text


@pytest.mark.parametrize("size", [5, 3 * MIB])
def test_a_refused_request_opens_no_sink(serve, size):
    sink = Sink()
    with Wire(serve(pieces_endpoint(sink.open))) as wire:
        reply = wire.send(head("PATCH", PATH, "X-Auth-Token: nobody", f"Content-Length: {size}"), bytes(size)).reply()

    assert (401, False) == (reply.status, sink.is_open.is_set())


@pytest.mark.parametrize("length", LENGTHS)
def test_a_body_above_the_limit_is_413(serve, patch, length):
    sink = Sink()
    with Wire(serve(pieces_endpoint(sink.open, before_body=lambda request: 2 * MIB))) as wire:
        wire.send(patch(LENGTHS[length].format(3 * MIB)))
        wire.send(chunked([bytes(MIB)] * 3) if length == "chunked" else bytes(3 * MIB))
        reply = wire.reply()

    assert 413 == reply.status
    assert ([False], True) if length == "chunked" else ([], False) == (sink.ends, sink.is_open.is_set())


def test_a_malformed_chunk_ends_the_body(serve, patch):
    sink = Sink()
    with Wire(serve(pieces_endpoint(sink.open))) as wire:
        wire.send(patch("Transfer-Encoding: chunked"), chunked([b"hello"], end=b""))
        assert b"hello" == eventually(b"hello", lambda: sink.content)
        assert 400 == wire.send(b"nonsense\r\n\r\n").reply().status

    assert [False] == eventually([False], lambda: sink.ends)


def test_a_slow_sink_is_sent_no_more_than_it_takes(serve, patch):
    go_on = threading.Event()
    sink = Sink()
    sink.write = lambda piece: (go_on.wait(20), sink.pieces.append(piece))
    body = bytes(64 * MIB)
    with Wire(serve(pieces_endpoint(sink.open), recv_bytes=64 << 10)) as wire:
        wire.socket.settimeout(1)
        wire.send(patch(f"Content-Length: {len(body)}"))
        with pytest.raises(TimeoutError):
            wire.socket.sendall(body)
        go_on.set()
        wire.socket.settimeout(20)
        taken = eventually(True, lambda: len(sink.content) > QUEUED_BYTES)
        wire.close()

        assert taken
        assert [False] == eventually([False], lambda: sink.ends)
    assert len(sink.content) < 32 * MIB


def test_a_client_that_waits_for_a_slow_sink_is_not_idle(serve, patch):
    sink, times = Sink(), iter([4.0])
    sink.write = lambda piece: (time.sleep(next(times, 0)), sink.pieces.append(piece))
    timeouts = Timeouts(upload_idle=1.5)
    server = serve(pieces_endpoint(sink.open), timeouts=timeouts, channel_timeout=1, cleanup_interval=1)
    with Wire(server) as wire:
        reply = wire.send(patch(f"Content-Length: {4 * MIB}"), bytes(4 * MIB)).reply()

    assert (200, 4 * MIB, [True]) == (reply.status, reply.json["size"], sink.ends)


def test_a_silent_client_is_closed(serve, patch):
    sink = Sink()
    timeouts = Timeouts(upload_idle=1.5)
    server = serve(pieces_endpoint(sink.open), timeouts=timeouts, channel_timeout=1, cleanup_interval=1)
    with Wire(server) as wire:
        wire.send(patch("Content-Length: 10"), b"hello")
        assert [False] == eventually([False], lambda: sink.ends)

    assert b"hello" == sink.content


@pytest.mark.parametrize("owner", [None, "somebody"])
def test_a_body_whose_owner_the_sink_knows_may_be_silent(serve, owner):
    sink = Sink()

    def open_sink(request):
        request.body_owner = owner
        return sink.open(request)

    server = serve(
        pieces_endpoint(open_sink, permission=None, ignores_token=True),
        timeouts=Timeouts(upload_idle=60),
        channel_timeout=1,
        cleanup_interval=1,
    )
    with Wire(server) as wire:
        wire.send(head("PATCH", PATH, "X-Auth-Token: expired", "Content-Length: 3000000"), b"hello")
        if owner:
            time.sleep(4)
            assert [] == sink.ends
        else:
            assert [False] == eventually([False], lambda: sink.ends)


def test_the_stop_of_the_service_ends_the_body(services, patch):
    sink = Sink()
    app = app_with(services, pieces_endpoint(sink.open))
    with contextlib.ExitStack() as stack, running_server(app, app.server_hooks, None, 0.5) as server:
        wire = stack.enter_context(Wire(server))
        wire.send(patch("Content-Length: 3000000"), bytes(1000))
        assert 1000 == eventually(1000, lambda: len(sink.content))

    assert [False] == sink.ends


def test_a_stop_waits_for_a_body_that_arrives(services, patch):
    sink = Sink()
    app = app_with(services, pieces_endpoint(sink.open))
    replies = []
    with contextlib.ExitStack() as stack, running_server(app, app.server_hooks, None, 20) as server:
        wire = stack.enter_context(Wire(server))
        wire.send(patch("Content-Length: 3000000"), bytes(1000))
        assert 1000 == eventually(1000, lambda: len(sink.content))
        later = threading.Timer(1, lambda: replies.append(wire.send(bytes(2_999_000)).reply()))
        stack.callback(later.join)  # after the stop of the service, and before the wire is closed
        later.start()

    assert ([True], 200) == (sink.ends, replies[0].status)


def test_a_hundred_slow_senders_leave_the_threads_to_others(serve, patch, admin):
    """Each request takes a thread for milliseconds, whatever the senders do."""
    sinks = [Sink() for _ in range(100)]
    opened = iter(sinks)
    endpoint = pieces_endpoint(lambda request: next(opened).open(request))
    server = serve(endpoint, threads=2, connection_limit=500)
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(Wire(server)) for _ in sinks]
        for wire in wires:
            wire.send(patch("Content-Length: 3000000"), bytes(1000))
        assert eventually(True, lambda: all(sink.content for sink in sinks))
        for _ in range(20):
            for wire in wires:
                wire.send(b"x")
            with Wire(server) as other:
                started = time.monotonic()
                assert 200 == other.send(head("GET", "/version", f"X-Auth-Token: {admin}")).reply("GET").status
                assert time.monotonic() - started < 20

        assert eventually(True, lambda: all(len(sink.content) == 1020 for sink in sinks))
    assert eventually(True, lambda: all(sink.ends == [False] for sink in sinks))


def test_slow_sinks_leave_a_thread_to_others(serve, patch, admin):
    go_on = threading.Event()
    sinks = [Sink() for _ in range(4)]
    for sink in sinks:
        sink.write = lambda piece: go_on.wait(20)
    opened = iter(sinks)
    endpoint = pieces_endpoint(lambda request: next(opened).open(request))
    server = serve(endpoint, threads=2)
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(Wire(server)) for _ in sinks]
        for wire in wires:
            wire.send(patch("Content-Length: 3000000"), bytes(1000))
        with Wire(server) as other:
            assert 200 == other.send(head("GET", "/version", f"X-Auth-Token: {admin}")).reply("GET").status
        go_on.set()


@pytest.mark.parametrize("end", [Wire.close, reset, None])
def test_a_body_that_breaks_off_or_ends_during_the_decision_is_ended_once(serve, patch, end):
    asked, decided, sink = threading.Event(), threading.Event(), Sink()

    def open_slowly(request):
        asked.set()
        decided.wait(20)
        return sink.open(request)

    later = threading.Timer(0.5, decided.set)
    with Wire(serve(pieces_endpoint(open_slowly), cleanup_interval=1)) as wire:
        wire.send(patch("Content-Length: 1000"), bytes(900))
        assert asked.wait(20)  # a small body that is not complete after a second is decided about
        later.start()
        if end:
            end(wire)
        else:
            assert 200 == wire.send(bytes(100)).reply().status

        assert [end is None] == eventually([end is None], lambda: sink.ends)
    assert len(sink.content) == (900 if end else 1000)


def test_the_sink_gets_the_body_of_a_revoked_token_but_the_view_is_not_called(serve, services, make_token, admin):
    sink, called = Sink(), []
    token = make_token(Role.UPLOAD_ALL)
    with Wire(serve(pieces_endpoint(sink.open, view=called.append))) as wire:
        wire.send(head("PATCH", PATH, f"X-Auth-Token: {token}", "Content-Length: 3000000"), bytes(1000))
        assert 1000 == eventually(1000, lambda: len(sink.content))
        services.tokens.revoke(token, by=services.tokens.look_up(admin))
        reply = wire.send(bytes(2_999_000)).reply()

    assert (401, [False], []) == (reply.status, eventually([False], lambda: sink.ends), called)


class TestStockWaitress:
    @pytest.fixture
    def serve(self, services):
        """Serve an endpoint under waitress alone, which calls the application when the body is complete."""
        running = []

        def serve(endpoint):
            sockets = {}
            server = create_server(app_with(services, endpoint), map=sockets, listen="127.0.0.1:0")
            stop = threading.Event()
            thread = threading.Thread(target=loop, args=[sockets, stop])
            thread.start()
            running.append((server, sockets, stop, thread))
            return SimpleNamespace(address=f"127.0.0.1:{server.effective_port}")

        def loop(sockets, stop):
            while not stop.is_set():
                wasyncore.loop(timeout=0.1, use_poll=True, map=sockets, count=1)

        yield serve
        for server, sockets, stop, thread in running:
            stop.set()
            thread.join()
            server.task_dispatcher.shutdown()
            wasyncore.close_all(map=sockets)

    @pytest.mark.parametrize("length", LENGTHS)
    @pytest.mark.parametrize("size", [5, 3 * MIB])
    def test_the_whole_body_is_handed_over(self, serve, patch, length, size):
        sink, body = Sink(), bytes(range(256)) * (size // 256) + bytes(size % 256)
        with Wire(serve(pieces_endpoint(sink.open))) as wire:
            wire.send(patch(LENGTHS[length].format(size)), chunked([body]) if length == "chunked" else body)
            reply = wire.reply()

        assert (200, size, [True]) == (reply.status, reply.json["size"], sink.ends)
        assert body == sink.content
        assert max(len(piece) for piece in sink.pieces) <= 256 << 10

    def test_nothing_is_handed_over_of_a_body_that_breaks_off(self, serve, patch):
        sink = Sink()
        server = serve(pieces_endpoint(sink.open))
        with Wire(server) as wire:
            wire.send(patch("Content-Length: 3000000"), bytes(1000))
        with Wire(server) as wire:
            assert 200 == wire.send(patch("Content-Length: 5"), b"hello").reply().status

        assert (b"hello", [True]) == (sink.content, sink.ends)
