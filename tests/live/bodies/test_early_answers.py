"""Requests that are refused regardless of their body are refused before the body arrives."""

import json
import os
import sqlite3
import time

import pytest

from support.wire import chunked, eventually, head, peak_memory, temporary_files

pytestmark = pytest.mark.own_server

LARGE = 3_000_001
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
UNKNOWN = "X-Auth-Token: 00000000-0000-4000-8000-000000000000"
FILE = "/repository/file/upload?fileName=a.bin"


@pytest.fixture
def token(client):
    """Make a token; return its id."""

    def make(**form):
        body = json.dumps({"roles": ["upload.all"], **form}).encode()
        return client.request("POST", "/auth/token/generate", body).json["tokenId"]

    return make


@pytest.fixture
def refused(client, token):
    """Refused requests: path, a header field, and the status of the answer."""
    push = f"/repository/collection/{client.collection(maxOneVersionSize='1MB')}/backup"
    return {
        "an unknown token": (FILE, UNKNOWN, 403),
        "no token": (FILE, "Accept: */*", 403),
        "no name": ("/repository/file/upload", client.auth, 400),
        "too large for the token": (FILE, f"X-Auth-Token: {token(data={'maxAllowedFileSize': 1_000_000})}", 400),
        "too large for the collection": (push, client.auth, 400),
        "another version came first": (push, f"{client.auth}\r\nIf-Match: v7", 412),
        "no such path": ("/nowhere", client.auth, 404),
    }


@pytest.mark.parametrize("expect", [["Expect: 100-continue"], []], ids=["with Expect", "without Expect"])
@pytest.mark.parametrize(
    "what",
    [
        "an unknown token",
        "no token",
        "no name",
        "too large for the token",
        "too large for the collection",
        "another version came first",
        "no such path",
    ],
)
def test_a_refusal_is_sent_before_the_body_arrives(service, refused, wire, what, expect):
    path, field, status = refused[what]
    reply = wire.send(head("POST", path, field, f"Content-Length: {LARGE}", *expect)).reply()

    assert (status, status, "close") == (reply.status, reply.json["http_code"], reply.headers["Connection"])
    assert [] == eventually([], lambda: temporary_files(service))


def test_a_body_of_unknown_length_is_refused_at_its_first_chunk(wire):
    wire.send(head("POST", FILE, UNKNOWN, "Transfer-Encoding: chunked"), chunked([b"x" * 1000], end=b""))

    assert 403 == wire.reply().status


def test_a_client_that_sends_a_refused_body_completely_gets_the_answer(wire):
    body = os.urandom(LARGE)
    wire.send(head("POST", FILE, UNKNOWN, f"Content-Length: {20 * LARGE}"), *[body] * 20)

    assert 403 == wire.reply().status


def test_100_continue_is_sent_after_the_request_was_accepted(client, wire):
    content = os.urandom(LARGE)
    wire.send(head("POST", FILE, client.auth, f"Content-Length: {LARGE}", "Expect: 100-continue"))
    interim = wire.socket.recv(1024)

    assert (CONTINUE, content) == (interim, client.content(wire.send(content).reply()))


def test_100_continue_is_sent_to_a_second_request_on_the_connection(client, wire):
    content = os.urandom(100)
    second = head("POST", FILE, client.auth, "Content-Length: 100", "Expect: 100-continue")
    wire.send(head("GET", "/version", client.auth) + second)
    first = wire.reply("GET")
    assert (200, CONTINUE) == (first.status, wire._file.read(len(CONTINUE)))

    assert content == client.content(wire.send(content).reply())


def test_an_endpoint_without_body_is_called_once_although_a_body_arrives(client, token, wire):
    path = f"/auth/token/{token()}"
    wire.send(head("DELETE", path, client.auth, f"Content-Length: {LARGE}"), bytes(LARGE))

    assert (200, 404) == (wire.reply().status, client.request("GET", path).status)


@pytest.mark.costly
def test_a_download_with_a_request_body_is_not_collected_in_memory(service, client, wire):
    content = bytes(100 << 20)
    name = client.upload(content).json["filename"]
    before = peak_memory(service)
    wire.send(head("GET", f"/repository/file/{name}", f"Content-Length: {LARGE}"), bytes(LARGE))

    assert content == wire.reply("GET").body
    assert peak_memory(service) < before + 50


def test_an_invalid_request_is_not_executed(client, token, wire):
    path = f"/auth/token/{token()}"
    wire.send(head("DELETE", path, client.auth, "Content-Length: many", "Expect: 100-continue"))

    assert (400, 200) == (wire.reply().status, client.request("GET", path).status)


def test_an_executed_request_is_not_answered_as_broken(service, client, token, wire):
    """Its unneeded body is broken, which the server notices while it sends the answer."""
    mine = token()
    other = sqlite3.connect(service.folder / "frepo.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    wire.send(head("DELETE", f"/auth/token/{mine}", client.auth, "Transfer-Encoding: chunked"))
    time.sleep(0.5)  # the service waits for the lock
    wire.send(b"zz\r\nxx\r\n0\r\n\r\n")
    time.sleep(0.2)
    other.execute("COMMIT")
    other.close()

    assert (200, 404) == (wire.reply().status, client.request("GET", f"/auth/token/{mine}").status)


def test_an_http_1_0_client_gets_one_connection_close_header(wire):
    wire.send(f"POST {FILE} HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: {LARGE}\r\n\r\n".encode())

    assert ["close"] == wire.reply().headers.get_all("Connection")
