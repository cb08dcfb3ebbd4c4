"""nginx in front of a host that does not answer."""

import contextlib
import socket
import threading

import pytest

from support.servers import nginx as nginx_server

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


def test_a_host_that_does_not_answer_is_left_out_and_no_request_fails(local_site):
    path = local_site.collection(maxBackupsCount=20)
    with lost_host() as lost, nginx_server.nginx([lost, local_site.services[0].address]) as front:
        statuses = [local_site.push(f"http://{front.address}{path}", b"%d" % number).status for number in range(12)]
        timeouts = (front.folder / "error.log").read_text().count("timed out")

    assert {200} == set(statuses)
    assert 1 <= timeouts <= 6
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
