"""A few connections are read in larger pieces than many, which have to wait for each other."""

import contextlib

import pytest

from frepo_server.read_size import LARGEST_READ, TURN_READ
from support.contract.body_sinks import PATH, Sink, app_with, pieces_endpoint
from support.servers.in_process import running_server
from support.wire import Wire, head

USUAL = 64 << 10
BODY = bytes(32 << 20)
MANY = 60


@pytest.mark.parametrize(("others", "are_larger"), [(0, True), (MANY, False)])
def test_few_connections_are_read_in_larger_pieces(services, admin, others, are_larger):
    sink = Sink()
    app = app_with(services, pieces_endpoint(sink.open))
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(running_server(app, app.server_hooks, recv_bytes=USUAL))
        wire, *_ = [stack.enter_context(Wire(address)) for _ in range(others + 1)]
        wire.send(head("PATCH", PATH, f"X-Auth-Token: {admin}", f"Content-Length: {len(BODY)}"), BODY).reply()

    _, *pieces = map(len, sink.pieces)  # the first one arrived before the application decided
    assert are_larger == (max(pieces) > TURN_READ // MANY)
    assert max(pieces) <= LARGEST_READ
