"""A server that is silent, or that sends one byte now and then: the client does not wait for it without an end."""

import contextlib
import socket
import threading
import time

import pytest

from frepo_client.errors import RefusedError, UnreachableError
from frepo_client.reporter import Reporter
from frepo_client.restores.download import Download
from frepo_client.server.api import Api
from frepo_client.server.connection import Connection, ConnectionFailedError
from frepo_client.server.retry import Retry
from frepo_client.server.waiting import SLOWEST, pieces

SIZE = 200
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
# What is sent, how many bytes at once, and of how many seconds each pause is.
SERVERS = {
    "silent": (b"", 1, 0.05),
    "silent after its head": (HEAD + b"Content-Length: 200\r\n\r\n", len(HEAD) + 30, 0.05),
    "one byte now and then": (HEAD + b"Content-Length: 200\r\n\r\n" + b" " * SIZE, len(HEAD) + 40, 0.05),
    "its head byte by byte": (HEAD + b"X-A: " + b"a" * 20 * SIZE, 5, 0.05),
    "the same in chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 30, len(HEAD) + 40, 0.05),
}


@pytest.fixture
def serve():
    """Start a server that sends so many bytes at first, and then a few after each pause; return its URL."""
    with contextlib.ExitStack() as stack:

        def serve(content, first, pause, step=1):
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            ended = threading.Event()
            stack.callback(ended.set)

            def answer():
                with contextlib.suppress(OSError):
                    connection = listener.accept()[0]
                    with connection:
                        connection.recv(1 << 16)
                        connection.sendall(content[:first])
                        for start in range(first, len(content), step):
                            ended.wait(pause)
                            connection.sendall(content[start : start + step])
                        ended.wait(60)

            threading.Thread(target=answer, daemon=True).start()
            return f"http://127.0.0.1:{listener.getsockname()[1]}"

        yield serve


@pytest.mark.parametrize("server", SERVERS)
def test_a_silent_server_is_no_answer(serve, server):
    started = time.monotonic()
    for method, times in (("GET", (60, 1)), ("POST", (1, 60))):
        connection = Connection(serve(*SERVERS[server]), timeout=times[0], timeout_of_reading=times[1])

        with pytest.raises(ConnectionFailedError, match="did not answer in time"):
            connection.send(method, "/", body=b"" if method == "POST" else None)

    assert time.monotonic() - started < 30


def test_an_error_whose_reason_arrives_byte_by_byte_is_that_error(serve):
    started = time.monotonic()
    head = b"HTTP/1.1 409 Conflict\r\nContent-Length: 2000\r\n\r\n"
    connection = Connection(serve(head + b" " * 2000, len(head), 0.05), timeout=1)

    with pytest.raises(RefusedError, match="Conflict"):
        connection.send("GET", "/")

    assert time.monotonic() - started < 30


def test_a_proxy_that_answers_byte_by_byte_is_no_answer(serve, monkeypatch):
    started = time.monotonic()
    monkeypatch.setenv("https_proxy", serve(b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 20 * SIZE, 5, 0.05))
    connection = Connection("https://files.example.org", timeout=1)

    with pytest.raises(ConnectionFailedError, match="did not answer in time"):
        connection.send("GET", "/")

    assert time.monotonic() - started < 30


@pytest.mark.parametrize("server", [*SERVERS][1:])
def test_a_download_from_a_silent_server_ends(serve, server):
    url = serve(*SERVERS[server])
    said = []
    api = Api(Connection(url, timeout=1), Retry(0, said.append, url))

    with pytest.raises(UnreachableError, match="did not answer in time"):
        list(Download(api, "/", Reporter(), size=SIZE).pieces())


def test_a_slow_server_is_waited_for(serve):
    content = HEAD + b"Content-Length: 2000\r\n\r\n" + b'{"a": 1}'.ljust(2000)
    url = serve(content, len(HEAD), 0.1, step=SLOWEST // 2)

    answer = Connection(url, timeout=1, timeout_of_reading=1).send("GET", "/")

    assert {"a": 1} == answer.json()


def test_who_takes_the_pieces_slowly_does_not_make_the_server_silent(serve):
    content = HEAD + b"Content-Length: 90\r\n\r\n" + b"a" * 90
    connection = Connection(serve(content, len(HEAD) + 50, 0, step=1))
    found = []

    for piece in pieces(connection.open("GET", "/"), 1):
        time.sleep(1.2 if not found else 0)
        found.append(piece)

    assert b"a" * 90 == b"".join(found)


def test_what_only_reads_is_answered_within_a_minute():
    connection = Connection("http://127.0.0.1")

    assert (60, 300) == (connection.timeout_of_reading, connection.timeout)
