"""Bodies that end early, late or never leave no data, connection or descriptor behind."""

import os
import socket
import struct

import pytest

from support.wire import (
    Wire,
    blob_files,
    chunked,
    eventually,
    field,
    form,
    head,
    open_files,
    rows,
    temporary_files,
    traces,
)

LARGE = 3_000_001


def fresh(size=100):
    return os.urandom(size)


@pytest.fixture
def collection(client):
    return client.collection()


@pytest.fixture(params=["file", "version", "form"])
def begin(request, client, collection):
    """Write the head of an upload of each kind."""

    def begin(*fields):
        if request.param == "version":
            return head("POST", f"/repository/collection/{collection}/backup", client.auth, *fields)
        kind = "multipart/form-data; boundary=XX" if request.param == "form" else "text/plain"
        fields += (f"Content-Type: {kind}",)
        return head("POST", "/repository/file/upload?fileName=a.bin", client.auth, *fields)

    return begin


def reset(wire):
    """Reset the connection, as a killed process does."""
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()


HALF = form(field("file", fresh(LARGE), "a.bin"))[: LARGE // 2]


def test_a_body_shorter_than_its_length_leaves_nothing(service, begin, before):
    for end in ["close", "half close", "reset"]:
        for sent in [b"", b"some", HALF]:
            with Wire(service) as wire:
                wire.send(begin(f"Content-Length: {LARGE}"), sent)
                if sent is HALF:
                    eventually(True, lambda: len(temporary_files(service)) > len(before["temporary"]))
                {"close": wire.close, "half close": wire.half_close, "reset": lambda: reset(wire)}[end]()

            assert before == eventually(before, lambda: traces(service)), (end, sent)


def test_a_chunked_body_without_its_end_leaves_nothing(service, begin, before):
    for end in ["close", "half close", "reset"]:
        for cut in [
            chunked([b"whole"], end=b""),
            chunked([b"whole", HALF], end=b""),
            b"ff\r\nnot all of it",
            b"5\r\nwhole\r\n0\r\n",
            b"5\r\nwhole\r\n0",
            b"5\r\nwhole",
            b"",
        ]:
            with Wire(service) as wire:
                wire.send(begin("Transfer-Encoding: chunked"), cut)
                if HALF in cut:
                    eventually(True, lambda: len(temporary_files(service)) > len(before["temporary"]))
                {"close": wire.close, "half close": wire.half_close, "reset": lambda: reset(wire)}[end]()

            assert before == eventually(before, lambda: traces(service)), (end, cut)


def test_a_body_that_stops_arriving_does_not_block_other_clients(service, client, begin):
    with Wire(service) as wire:
        wire.send(begin(f"Content-Length: {LARGE}"), HALF)
        reply = client.upload(fresh())

    assert 200 == reply.status


@pytest.mark.own_server  # stock waitress answers its own errors in plain text
def test_bytes_after_the_declared_length_are_not_stored(service, client, wire, post):
    content = fresh()
    reply = wire.send(post("a.bin", f"Content-Length: {len(content)}"), content, b"more\r\n\r\n").reply()
    stored = client.content(reply)

    # The bytes after the body are read as a second request, which is invalid.
    assert (content, 400, "application/json") == (
        stored,
        (extra := wire.reply()).status,
        extra.headers.get_content_type(),
    )


@pytest.mark.parametrize(
    "fields",
    [
        ["Content-Length: -5"],
        ["Content-Length: many"],
        ["Content-Length: 5_0"],
        ["Content-Length: 5", "Content-Length: 6"],
        ["Transfer-Encoding: gzip"],
    ],
    ids=str,
)
def test_an_invalid_length_is_refused_by_the_server(service, wire, post, before, fields):
    reply = wire.send(post("a.bin", *fields), b"hello").reply()

    assert (True, before) == (reply.status in {400, 501}, eventually(before, lambda: traces(service)))


@pytest.mark.parametrize(
    "chunk", [b"zz\r\nhello\r\n0\r\n\r\n", b"-1\r\n\r\n", b"3\r\nhello\r\n0\r\n\r\n"], ids=range(3)
)
def test_broken_chunks_are_refused(service, wire, post, before, chunk):
    reply = wire.send(post("a.bin", "Transfer-Encoding: chunked"), chunk).reply()

    assert (400, before) == (reply.status, eventually(before, lambda: traces(service)))


def test_a_client_that_does_not_wait_for_its_answer_leaves_a_whole_file_or_nothing(service, post, before):
    for _ in range(10):
        with Wire(service) as wire:
            wire.send(post("a.bin", f"Content-Length: {LARGE}"), fresh(LARGE))

    assert before["temporary"] == eventually(before["temporary"], lambda: temporary_files(service))
    assert rows(service)["object"] - before["object"] == len(blob_files(service)) - len(before["blobs"])


def test_two_pipelined_uploads_are_both_answered(client, wire, post):
    contents = [fresh(), fresh()]
    wire.send(b"".join(post("a.bin", "Content-Length: 100") + content for content in contents))
    replies = [wire.reply(), wire.reply()]

    assert contents == [client.content(reply) for reply in replies]


REFUSED = {
    "no token": ("POST", "/repository/file/upload?fileName=a", [], b"hello", 403),
    "bad token": ("POST", "/repository/file/upload?fileName=a&_token=x", [], b"hello", 403),
    "bad name": ("POST", "/repository/file/upload?fileName=a%2Fb", ["auth"], b"hello", 400),
    "empty": ("POST", "/repository/file/upload?fileName=a", ["auth"], b"", 400),
    "wrong digest": ("POST", f"/repository/file/upload?fileName=a&sha256={'0' * 64}", ["auth"], b"hello", 400),
    "no such path": ("POST", "/nowhere", ["auth"], b"hello", 404),
    "wrong method": ("PUT", "/repository/file/upload", ["auth"], b"hello", 405),
    "broken JSON": ("POST", "/repository/collection", ["auth"], b"{", 400),
    "no such file": ("GET", "/repository/file/nothing", [], b"", 404),
}


def test_a_connection_stays_usable_after_an_error(client, wire, post):
    for name, (method, path, fields, body, status) in REFUSED.items():
        auth = [client.auth] if fields else []
        refused = wire.send(head(method, path, *auth, f"Content-Length: {len(body)}"), body).reply()
        content = fresh()
        again = wire.send(post("a.bin", "Content-Length: 100"), content).reply()

        assert (status, status, content) == (refused.status, refused.json["http_code"], client.content(again)), name


def test_no_kind_of_upload_leaks_a_descriptor(service, client, wire, post):
    client.upload(fresh(LARGE))
    before = len(open_files(service))
    for _ in range(5):
        client.upload(fresh(LARGE))
        client.upload(fresh(LARGE), sha256="0" * 64)
        client.upload(b"x" * LARGE, encoding="base64")
        client.multipart(form(field("file", fresh(LARGE), "a.bin"))[:-9])
        with Wire(service) as other:
            other.send(post("a.bin", f"Content-Length: {LARGE}"), HALF)

    assert eventually(True, lambda: len(open_files(service)) <= before)
