"""A client that takes bytes as fast as the server sends them does not hold up the others."""

import contextlib
import socket
import tempfile
import threading

import pytest
from waitress import wasyncore

from frepo_server.channel import Channel, make_server
from support.servers.in_process import running_server
from support.wire import Wire, head

LARGE = 8 << 30  # bytes, which take two seconds at least
REQUESTS = 200  # 2.5 MiB are usual for each; the whole file is sent before the others if it has no turns
PART = 1 << 20
UPLOADS = 30  # which begin at once


def application(environ, start_response):
    size = LARGE if environ["PATH_INFO"] == "/large" else 0
    start_response("200 OK", [("Content-Length", str(size))])
    if not size:
        return []
    file = tempfile.TemporaryFile()  # noqa: SIM115  the server closes it
    file.truncate(LARGE)
    return environ["wsgi.file_wrapper"](file)


class FastClient(threading.Thread):
    """Reads an answer, and lets the kernel discard its bytes (MSG_TRUNC, tcp(7))."""

    def __init__(self, connection):
        super().__init__()
        self._connection = connection
        self._buffer = bytearray(PART)
        self.received = 0

    def run(self):
        with contextlib.suppress(ConnectionError):
            while count := self._connection.recv_into(self._buffer, PART, socket.MSG_TRUNC):
                self.received += count

    def stop(self):
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self.join()


@pytest.fixture
def server():
    with running_server(application) as server:
        yield server


@pytest.mark.costly
def test_a_fast_download_does_not_hold_up_other_requests(server):
    with Wire(server) as large, Wire(server) as small:
        client = FastClient(large.send(head("GET", "/large")).socket)
        client.start()
        statuses = [small.send(head("GET", "/")).reply().status for _ in range(REQUESTS)]
        received = client.received
        client.stop()

    assert [200] * REQUESTS == statuses
    assert received < LARGE / 4, f"{received >> 20} MiB were sent while {REQUESTS} small requests waited"


def test_connections_do_not_wait_for_each_others_bytes():
    server = make_server(application, None, listen="127.0.0.1:0", threads=1)
    with contextlib.ExitStack() as stack:
        for _ in range(UPLOADS):
            upload = stack.enter_context(socket.create_connection(("127.0.0.1", server.effective_port)))
            upload.sendall(head("POST", "/", "Content-Length: 1000000"))

        wasyncore.loop(1, use_poll=True, map=server._map, count=1)

        assert len([each for each in server._map.values() if isinstance(each, Channel)]) == UPLOADS
        wasyncore.close_all(server._map)
        server.task_dispatcher.shutdown()
