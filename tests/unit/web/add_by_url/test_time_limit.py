"""add-by-url has one time limit for connecting, redirects, headers and bytes."""

import socket
import threading
import time

import pytest

from support.remote_answers import FAILED, SECONDS
from support.servers.remote import CHUNKED, endless, redirect, reply


@pytest.fixture
def seconds():
    """A short time limit, because endless servers use all of it."""
    return SECONDS


@pytest.mark.parametrize(
    "answer",
    [
        endless(reply("200 OK")),
        endless(reply("200 OK"), b"x", pause=0.1),
        endless(reply("200 OK", b"", "Content-Length: 9000000000000")),
        endless(reply("200 OK", b"", CHUNKED), b"1\r\nx\r\n", pause=0.1),
        endless(b"HTTP/1.1 200 OK\r\n", b"X", pause=0.1),
        endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", pause=0.1),
        endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", pause=0.05),
    ],
    ids=["flood", "drops", "flood of a length", "drops in chunks", "drops in a header", "headers", "continue"],
)
def test_the_total_time_is_limited(add, remote, kept, answer):
    server = remote({"/x": answer})

    refusal = add(f"{server.origin}/x", status=400)

    assert (refusal.json["error_code"], kept()) == (FAILED, 0)
    assert "took too long" in refusal.json["status"]


def test_the_time_limit_holds_across_redirects(add, remote):
    def slow_redirect(connection):
        threading.Event().wait(0.9 * SECONDS)
        connection.sendall(redirect("/x"))

    server = remote({"/x": slow_redirect})

    add(f"{server.origin}/x", status=400)

    assert len(server.requests) <= 2  # of the five redirects that are followed


def test_a_timeout_while_connecting_ends_the_fetch(add, monkeypatch, remote):
    server = remote({"/x": endless(reply("200 OK"), b"x", pause=0.1)})
    numeric = socket.getaddrinfo

    def slow(*more, **options):
        time.sleep(SECONDS + 0.2)
        return numeric(*more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    begin = time.monotonic()

    assert add(f"{server.origin}/x", status=400).json["error_code"] == FAILED
    assert time.monotonic() - begin < SECONDS + 1
