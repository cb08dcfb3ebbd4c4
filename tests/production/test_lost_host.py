"""nginx in front of a host that does not answer."""

import contextlib
import http.client
import socket
import threading
import time

import pytest

from frepo_core.services.base.failpoints import ENVIRONMENT as FAIL_POINT
from support.servers import nginx as nginx_server
from support.servers.nginx import LEFT_OUT
from support.wire import Client, chunked, head

pytestmark = pytest.mark.skipif(bool(nginx_server.MISSING), reason=str(nginx_server.MISSING))


@contextlib.contextmanager
def lost_host():
    """An address at which connections are neither accepted nor refused: its queue is full."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield "{}:{}".format(*listener.getsockname())


@pytest.mark.costly
def test_a_host_that_does_not_answer_is_left_out_and_no_request_fails(local_site):
    path = local_site.collection(maxBackupsCount=20)
    with lost_host() as lost, nginx_server.nginx([lost, local_site.services[0].address]) as front:
        started = time.monotonic()
        statuses = [local_site.push(f"http://{front.address}{path}", b"%d" % number).status for number in range(12)]
        took = time.monotonic() - started
        timeouts = (front.folder / "error.log").read_text().count("timed out")

    assert {200} == set(statuses)
    assert 1 <= timeouts <= 3 * (1 + took / LEFT_OUT)  # after three it is left out for a while
    assert 12 == len(local_site.versions(path))


@pytest.mark.parametrize("size", [5, 1_000_000])
def test_an_upload_that_was_sent_to_a_lost_host_is_not_sent_to_another(size):
    received = []

    def serve(listener, number):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    received.append((number, connection.recv(1 << 20)))

    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2)]
        for number, listener in enumerate(listeners):
            threading.Thread(target=serve, args=(listener, number), daemon=True).start()
        addresses = ["{}:{}".format(*listener.getsockname()) for listener in listeners]
        front = stack.enter_context(nginx_server.nginx(addresses))
        client = stack.enter_context(socket.create_connection(("127.0.0.1", front.port), 20))
        client.sendall(f"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n".encode() + b"x" * size)
        answer = client.recv(1000)
        for listener in listeners:
            listener.shutdown(socket.SHUT_RDWR)

    assert (b"HTTP/1.1 502", 1) == (answer[:12], len(received))


@pytest.fixture
def dying(start_service):
    """Start two processes behind nginx; the first one dies during a write. Return nginx and a client of the second."""
    with contextlib.ExitStack() as stack:

        def start(point):
            second = start_service(TRASH_KEEP="0")
            own = {"TEMP_DIRECTORY", "TMPDIR"}
            shared = {name: value for name, value in second.environment.items() if name not in own}
            client = Client(second)
            first = start_service(**shared | {FAIL_POINT: point})
            addresses = [first.address, f"{second.address} backup"]  # nginx chooses the first one while it runs
            return first, stack.enter_context(nginx_server.nginx(addresses)), client

        yield start


def in_one_piece(front, *pieces):
    """Send a request in one piece, and return the status."""
    with socket.create_connection(("127.0.0.1", front.port), 20) as connection:
        connection.sendall(b"".join(pieces))
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        answer.read()
        return answer.status


@pytest.mark.costly
@pytest.mark.parametrize("form", ["a length", "chunks", "its own key"])
def test_a_small_put_whose_first_process_dies_after_the_commit_is_one_version(dying, form):
    first, front, client = dying("committed")
    collection = client.collection(9)
    fields = [
        client.auth,
        "Content-Type: text/plain",
        "Transfer-Encoding: chunked" if form == "chunks" else "Content-Length: 5",
    ]
    fields += ["Idempotency-Key: night-1"] if form == "its own key" else []
    body = chunked([b"night"]) if form == "chunks" else b"night"

    status = in_one_piece(front, head("PUT", f"/api/v1/collections/{collection}/versions", *fields), body)

    assert (201, -9, ["1"]) == (status, first.process.wait(60), list(client.versions(collection)))


@pytest.mark.costly
@pytest.mark.parametrize("place", ["latest", "first"])
def test_a_deletion_by_place_whose_first_process_dies_deletes_one_version(dying, place):
    first, front, client = dying("collect")
    collection = client.collection(9)
    for number in range(3):
        client.push(collection, b"%d" % number)

    status = in_one_piece(front, head("DELETE", f"/api/v1/collections/{collection}/versions/{place}", client.auth))

    assert 502 == status
    assert (-9, 2) == (first.process.wait(60), len(client.versions(collection)))
