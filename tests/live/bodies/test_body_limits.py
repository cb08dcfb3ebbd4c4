"""A body uses at most the space that its sender may use, and none if the endpoint needs no body."""

import json
import os
import threading
from functools import partial

import pytest

from frepo_core.services.content.held_bytes import PREFIX
from frepo_core.web import Answer, Endpoint, Reply
from support.contract.body_sinks import app_with
from support.servers.in_process import running_server
from support.wire import Wire, chunked, eventually, field, form, head, temporary_files

pytestmark = pytest.mark.own_server

PIECE = os.urandom(256 << 10)
MUCH = 80  # pieces, 20 MiB
ROOM = 6 << 20  # more than any limit in these tests, with what one read takes
FILE = "/repository/file/upload?fileName=a.bin"


def spooled(service):
    """Return the number of spooled bytes of bodies on the disk."""
    total = 0
    for descriptor in os.scandir(f"/proc/{service.pid}/fd"):
        try:
            path = os.readlink(descriptor.path)
            if path.startswith(str(service.temporary)) and PREFIX not in path:
                total += os.stat(descriptor.path).st_size
        except FileNotFoundError:
            continue
    return total


@pytest.fixture
def small(client):
    """A token that may upload files of at most 1,000 bytes."""
    body = {"roles": ["upload.all"], "data": {"maxAllowedFileSize": 1000}}
    made = client.request("POST", "/auth/token/generate", json.dumps(body).encode())
    return f"X-Auth-Token: {made.json['tokenId']}"


@pytest.fixture
def pour(service, wire):
    """Send a head and 20 MiB of an endless body; return the answer and the maximum of spooled bytes."""

    def pour(*lines, first=b"", piece=PIECE):
        wire.send(head(*lines), first)
        most = 0
        for _ in range(MUCH):
            wire.send(piece)
            most = max(most, spooled(service))
        return wire.reply(lines[0]), max(most, spooled(service))

    return pour


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("length", ["Content-Length: 1000000000000", "Transfer-Encoding: chunked"])
def test_a_body_that_the_method_does_not_accept_is_not_spooled(service, pour, method, length):
    piece = chunked([PIECE], end=b"") if "chunked" in length else PIECE
    reply, most = pour(method, "/", length, piece=piece)

    assert (200, "close", 0) == (reply.status, reply.headers["Connection"], most)


def test_a_body_that_the_endpoint_does_not_accept_is_not_spooled(client, pour):
    reply, most = pour("DELETE", "/repository/file/none.bin", client.auth, "Content-Length: 1000000000000")

    assert (404, "close", True) == (reply.status, reply.headers["Connection"], most <= ROOM)


def test_json_is_limited_while_it_arrives(client, pour):
    piece = chunked([PIECE], end=b"")
    reply, most = pour("POST", "/auth/token/generate", client.auth, "Transfer-Encoding: chunked", piece=piece)

    assert (400, "The JSON body is larger than 1048576 bytes") == (reply.status, reply.json["status"])
    assert most <= ROOM


def test_a_chunked_upload_is_limited_while_it_arrives(small, pour):
    reply, most = pour("POST", FILE, small, "Transfer-Encoding: chunked", piece=chunked([PIECE], end=b""))

    assert (400, "File size is too big", {"max": "1.00kB"}) == (
        reply.status,
        reply.json["status"],
        reply.json["context"],
    )
    assert most <= ROOM


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_form_is_limited_while_it_arrives(small, pour, is_chunked):
    start = form(field("file", b"x" * 100, "a.bin"))[:-20]
    length = "Transfer-Encoding: chunked" if is_chunked else "Content-Length: 1000000000000"
    reply, most = pour(
        "POST",
        FILE,
        small,
        length,
        "Content-Type: multipart/form-data; boundary=XX",
        first=chunked([start], end=b"") if is_chunked else start,
        piece=chunked([PIECE], end=b"") if is_chunked else PIECE,
    )

    assert (400, "File size is too big") == (reply.status, reply.json["status"])
    assert most <= ROOM


def test_a_chunked_version_is_limited_while_it_arrives(client, pour):
    path = f"/repository/collection/{client.collection(maxOneVersionSize='1MB')}/backup"
    reply, most = pour("POST", path, client.auth, "Transfer-Encoding: chunked", piece=chunked([PIECE], end=b""))

    assert (400, 4006) == (reply.status, reply.json["error_code"])
    assert most <= ROOM


@pytest.mark.costly
def test_a_second_body_on_a_connection_waits_until_the_first_request_is_served(services, admin):
    """The bytes that wait are in memory: it has not been asked yet whether they may use the disk."""
    may_answer = threading.Event()
    path = "/api/v1/acme/slow"
    answers = {"permission": None, "writes": False, "answers": {200: Reply}}
    slow = Endpoint(name="slow", method="GET", path=path, view=partial(wait, may_answer), summary="Wait", **answers)
    app = app_with(services, slow)
    with running_server(app, app.server_hooks, channel_request_lookahead=1) as server, Wire(server) as wire:
        auth = f"X-Auth-Token: {admin}"
        wire.send(head("GET", path), head("POST", FILE, auth, "Transfer-Encoding: chunked"))
        sender = threading.Thread(target=wire.send, args=[chunked([PIECE] * MUCH)])
        sender.start()
        sender.join(1)
        spooled = services.ingest.held.total().spooled
        may_answer.set()
        replies = [wire.reply(), wire.reply()]
        sender.join()

    assert (0, [200, 200]) == (spooled, [reply.status for reply in replies])


def wait(may_answer, request):
    """Answer as soon as the test allows it."""
    assert may_answer.wait(20)
    return Answer(body=Reply())


def test_a_refused_form_within_its_envelope_keeps_its_text(client, small, post):
    body = form(field("file", b"x" * 1001, "a.bin"))
    headers = {"Content-Type": "multipart/form-data; boundary=XX", "X-Auth-Token": small.split(": ")[1]}
    reply = client.request("POST", FILE, body, headers)

    assert (400, "File size is too big") == (reply.status, reply.json["status"])


def test_large_chunked_uploads_within_their_limit_arrive(service, client, wire):
    content = PIECE * MUCH
    wire.send(head("POST", FILE, client.auth, "Transfer-Encoding: chunked"), chunked([PIECE] * MUCH))

    assert content == client.content(wire.reply())
    assert [] == eventually([], lambda: temporary_files(service))


@pytest.mark.parametrize("length", [16, 1000, 3_000_000])
def test_a_client_that_closes_its_sending_side_gets_its_answer(service, client, length):
    wrong = []
    for number in range(20):
        with Wire(service) as wire:
            body = os.urandom(length)
            wire.send(head("POST", f"{FILE}{number}", client.auth, f"Content-Length: {len(body)}"), body).half_close()
            if not wire.rest().startswith(b"HTTP/1.1 200 OK\r\n"):
                wrong.append(number)

    assert [] == wrong


def test_a_client_that_closes_its_sending_side_after_two_requests_gets_both_answers(wire):
    wire.send(head("GET", "/version") + head("GET", "/")).half_close()

    assert 2 == wire.rest().count(b"HTTP/1.1 ")
