"""add-by-url has one time limit for connecting, redirects, headers and bytes. Nothing here is fetched successfully."""

import gc
import socket
import threading
import time

import pytest

from support.remote_answers import FAILED, SECONDS, threads_and_descriptors
from support.servers.remote import CHUNKED, endless, redirect, reply, say_nothing


@pytest.fixture
def seconds():
    """A short time limit, because endless servers use all of it."""
    return SECONDS


@pytest.fixture
def ini(ini, seconds):
    """Without the limit of each read, so that it is the one of all that ends the fetch."""
    return ini | {"http.timeout": str(60 * seconds)}


def test_the_total_time_is_limited(add, remote, kept):
    answers = {
        "flood": endless(reply("200 OK")),
        "drops": endless(reply("200 OK"), b"x", pause=0.1),
        "flood of a length": endless(reply("200 OK", b"", "Content-Length: 9000000000000")),
        "drops in chunks": endless(reply("200 OK", b"", CHUNKED), b"1\r\nx\r\n", pause=0.1),
        "drops in a header": endless(b"HTTP/1.1 200 OK\r\n", b"X", pause=0.1),
        "headers": endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", pause=0.1),
        "continue": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", pause=0.05),
    }
    for what, answer in answers.items():
        server = remote({"/x": answer})

        refusal = add(f"{server.origin}/x", status=400)

        assert (refusal.json["error_code"], kept()) == (FAILED, 0)
        assert "took too long" in refusal.json["status"], what


def test_the_time_limit_holds_across_redirects(add, remote, kept):
    def slow_redirect(connection):
        threading.Event().wait(0.4 * SECONDS)
        connection.sendall(redirect("/x"))

    server = remote({"/x": slow_redirect})

    assert (add(f"{server.origin}/x", status=400).json["error_code"], kept()) == (FAILED, 0)
    assert len(server.requests) <= 3  # of the six with the five redirects that are followed


def test_nothing_is_requested_after_a_name_that_took_too_long(add, monkeypatch, remote):
    server = remote({"/x": endless(reply("200 OK"), b"x", pause=0.1)})
    numeric = socket.getaddrinfo

    def slow(*more, **options):
        time.sleep(SECONDS + 0.2)
        return numeric(*more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", slow)

    assert add(f"{server.origin}/x", status=400).json["error_code"] == FAILED
    assert [] == server.requests


def _stop_in_the_head(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    say_nothing(connection)


class TestSilence:
    """A server that says nothing is given up sooner."""

    @pytest.fixture
    def ini(self, ini, seconds):
        return ini | {"http.timeout": str(0.4 * seconds), "long_execution_time": "600"}

    def test_a_server_that_sends_nothing_is_given_up(self, add, remote, kept):
        server = remote({"/x": say_nothing, "/head": _stop_in_the_head})

        for path in ("x", "head"):
            refusal = add(f"{server.origin}/{path}", status=400)

            assert (refusal.json["error_code"], kept()) == (FAILED, 0), path
            assert "broke" in refusal.json["status"], path


@pytest.mark.costly
def test_no_thread_and_no_socket_is_left_behind(add, remote):
    server = remote({"/endless": endless(reply("200 OK"))})
    add(f"{server.origin}/endless", status=400)
    server.wait_until_idle()
    gc.collect()  # what earlier tests have left, so that it is not closed meanwhile
    before = threads_and_descriptors()

    add(f"{server.origin}/endless", status=400)

    server.wait_until_idle()
    assert before == threads_and_descriptors()
