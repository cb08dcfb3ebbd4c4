"""Ranges and conditions on the wire (RFC 9110, 13 and 14), and aborted downloads."""

import hashlib
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.wire import Wire, descriptors, eventually, head

CONTENT = bytes(range(256)) * 40
SIZE = len(CONTENT)
DIGEST = hashlib.sha256(CONTENT).hexdigest()
LATER, EARLIER = "Fri, 31 Dec 2100 23:59:59 GMT", "Sat, 01 Jan 2000 00:00:00 GMT"


@pytest.fixture
def name(client):
    return client.upload(CONTENT, "ranges.bin").json["filename"]


@pytest.fixture
def modified(client, name):
    return client.download(name).headers["Last-Modified"]


def test_one_range_is_answered(client, name):
    for asked, start, end in [
        ("bytes=0-0", 0, 1),
        ("bytes=0-99", 0, 100),
        ("bytes=100-", 100, SIZE),
        ("bytes=-100", SIZE - 100, SIZE),
        (f"bytes=-{SIZE}", 0, SIZE),
        ("bytes=-99999999999", 0, SIZE),
        (f"bytes={SIZE - 1}-", SIZE - 1, SIZE),
        ("bytes=500-99999999999", 500, SIZE),
        ("Bytes = 5-6", 5, 7),
        ("bytes=, 5-6 ,", 5, 7),
    ]:
        reply = client.download(name, {"Range": asked})

        assert (206, f"bytes {start}-{end - 1}/{SIZE}") == (reply.status, reply.headers["Content-Range"])
        assert (CONTENT[start:end], str(end - start)) == (reply.body, reply.headers["Content-Length"]), asked


def test_an_unsatisfiable_range_is_416(client, name):
    for asked in [f"bytes={SIZE}-", "bytes=99999999-", "bytes=-0"]:
        reply = client.download(name, {"Range": asked})

        assert (416, f"bytes */{SIZE}") == (reply.status, reply.headers["Content-Range"]), asked


def test_an_invalid_range_is_ignored(client, name):
    for asked in [
        "bytes=-",
        "bytes=",
        "bytes",
        "",
        "bytes=5-2",
        "bytes=a-b",
        "items=0-5",
        "bytes=1-2-3",
        "bytes=0x1-2",
        "bytes=--5",
        "bytes=0-,0-,0-",
        "bytes=" + ",".join(["0-0"] * 100),
        "bytes=" + "9" * 5000 + "-",
    ]:
        reply = client.download(name, {"Range": asked})

        assert (200, CONTENT) == (reply.status, reply.body), asked


def test_several_ranges_are_answered_with_the_whole_file(client, name):
    for asked in ["bytes=0-4,-5,100-109", "bytes=0-4, 99999999-", "bytes=99999999-,-0"]:
        reply = client.download(name, {"Range": asked})

        assert (200, str(SIZE), None) == (reply.status, reply.headers["Content-Length"], reply.headers["Content-Range"])
        assert CONTENT == reply.body, asked


def test_conditional_requests_are_evaluated(client, name, modified):
    for headers, status in [
        ({"If-None-Match": f'"{DIGEST}"'}, 304),
        ({"If-None-Match": f'"other", W/"{DIGEST}"'}, 304),
        ({"If-None-Match": "*"}, 304),
        ({"If-None-Match": '"other"'}, 200),
        ({"If-None-Match": '"other"', "If-Modified-Since": LATER}, 200),
        ({"If-Modified-Since": LATER}, 304),
        ({"If-Modified-Since": "MODIFIED"}, 304),
        ({"If-Modified-Since": EARLIER}, 200),
        ({"If-Modified-Since": "yesterday"}, 200),
        ({"If-Match": f'"{DIGEST}"'}, 200),
        ({"If-Match": "*"}, 200),
        ({"If-Match": '"other"'}, 412),
        ({"If-Match": f'"{DIGEST}"', "If-None-Match": f'"{DIGEST}"'}, 304),
        ({"If-Unmodified-Since": EARLIER}, 412),
        ({"If-Unmodified-Since": LATER}, 200),
        ({"If-Unmodified-Since": "MODIFIED"}, 200),
        ({"If-Unmodified-Since": "tomorrow"}, 200),
        ({"If-Match": f'"{DIGEST}"', "If-Unmodified-Since": EARLIER}, 200),
        ({"Range": "bytes=0-4", "If-Range": f'"{DIGEST}"'}, 206),
        ({"Range": "bytes=0-4", "If-Range": '"other"'}, 200),
        ({"Range": "bytes=0-4", "If-Range": f'W/"{DIGEST}"'}, 200),
        ({"Range": "bytes=0-4", "If-Range": "MODIFIED"}, 206),
        ({"Range": "bytes=0-4", "If-Range": EARLIER}, 200),
        ({"Range": "bytes=0-4", "If-Range": LATER}, 200),
        ({"Range": "bytes=0-4", "If-Range": "nonsense"}, 200),
        ({"Range": "bytes=99999999-", "If-None-Match": f'"{DIGEST}"'}, 304),
        ({"Range": "bytes=99999999-", "If-Range": '"other"'}, 200),
        ({"Range": "bytes=0-4", "If-Match": '"other"'}, 412),
    ]:
        for method in ["GET", "HEAD"]:
            headers = {header: modified if value == "MODIFIED" else value for header, value in headers.items()}
            reply = client.download(name, headers, method)

            # Ranges are defined for GET only (RFC 9110, 14.2).
            assert (200 if method == "HEAD" and status == 206 else status) == reply.status, (headers, method)


def test_not_modified_has_its_validators_and_no_body(wire, name):
    fields = (f'If-None-Match: "{DIGEST}"', "Connection: close")
    answer = wire.send(head("GET", f"/repository/file/{name}", *fields)).rest()
    top, _, body = answer.partition(b"\r\n\r\n")

    assert (b"", True, True) == (body, f'etag: "{DIGEST}"'.encode() in top.lower(), b"Cache-Control:" in top)
    assert not re.search(rb"(?i)content-length: *[1-9]|transfer-encoding", top)


def test_head_has_the_headers_of_get(client, name):
    get, head_ = client.download(name), client.download(name, method="HEAD")
    changing = {"Date"}

    assert [item for item in get.headers.items() if item[0] not in changing] == [
        item for item in head_.headers.items() if item[0] not in changing
    ]
    assert (CONTENT, b"") == (get.body, head_.body)


def test_a_connection_serves_many_ranges_of_one_file(wire, name):
    pieces = [
        wire.send(head("GET", f"/repository/file/{name}", f"Range: bytes={start}-{start + 999}")).reply("GET").body
        for start in range(0, SIZE, 1000)
    ]

    assert CONTENT == b"".join(pieces)


def test_downloads_leak_no_descriptor(service, client, name):
    large = client.upload(os.urandom(4 << 20)).json["filename"]
    client.download(large)
    before = len(descriptors(service))
    for headers in (
        {},
        {"Range": "bytes=5-6"},
        {"Range": "bytes=0-1,5-6"},
        {"Range": "bytes=-0"},
        {"If-None-Match": "*"},
    ):
        for method in ("GET", "HEAD"):
            for _ in range(3):
                client.download(large, headers, method)

    assert eventually(True, lambda: len(descriptors(service)) <= before), descriptors(service)


@pytest.mark.parametrize("ranges", ["bytes=0-", "bytes=0-9000000"])
def test_a_client_that_disconnects_leaks_no_descriptor(service, client, ranges):
    name = client.upload(os.urandom(20_000_000)).json["filename"]
    before = len(descriptors(service))
    for _ in range(5):
        with Wire(service) as wire:
            wire.send(head("GET", f"/repository/file/{name}", f"Range: {ranges}"))
            wire.socket.recv(1000)

    assert eventually(True, lambda: len(descriptors(service)) <= before), descriptors(service)


@pytest.mark.parametrize("fields", [(), ("Range: bytes=1-",), ("Range: bytes=0-24999999,25000000-49999999",)], ids=str)
def test_slow_readers_do_not_block_other_clients(service, client, fields):
    name = client.upload(os.urandom(50_000_000)).json["filename"]
    slow = [Wire(service).send(head("GET", f"/repository/file/{name}", *fields)) for _ in range(12)]
    time.sleep(1)  # all of them have begun by then
    with Wire(service) as wire:
        wire.socket.settimeout(20)
        answer = wire.send(head("GET", "/")).reply("GET")
    for wire in slow:
        wire.close()

    assert 200 == answer.status


def test_a_file_that_is_deleted_during_its_download_is_sent_completely(service, client):
    content = os.urandom(20_000_000)
    name = client.upload(content).json["filename"]
    with Wire(service) as wire:
        wire.send(head("GET", f"/repository/file/{name}", "Connection: close"))
        start = wire.socket.recv(1000)
        deleted = client.request("DELETE", f"/repository/file/{name}").status
        rest = wire.rest()
    body = (start + rest).partition(b"\r\n\r\n")[2]

    assert (200, hashlib.sha256(content).digest()) == (deleted, hashlib.sha256(body).digest())


def test_a_deleted_file_is_not_found(client):
    name = client.upload(os.urandom(10)).json["filename"]
    client.request("DELETE", f"/repository/file/{name}")

    assert 404 == client.download(name).status


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"short")], ids=["gone", "short"])
@pytest.mark.parametrize("headers", [{}, {"Range": "bytes=0-5"}, {"Range": "bytes=8-"}], ids=str)
def test_missing_bytes_of_a_record_are_reported_as_a_server_error(service, client, damage, headers):
    content = os.urandom(10)
    name, digest = client.upload(content).json["filename"], hashlib.sha256(content).hexdigest()
    damage(next(service.storage.rglob(f"{digest}-*")))
    reply = client.download(name, headers)

    assert (500, "The bytes of this file are missing in the storage") == (reply.status, reply.json["status"])
    assert re.search(rf"CRITICAL.*{digest}", service.log.read_text())


def test_concurrent_deletion_and_download_cause_no_server_error(service, client):
    """A download after the deletion answers that the file does not exist."""
    statuses = []
    with ThreadPoolExecutor(5) as pool:
        for _ in range(10):
            name = client.upload(os.urandom(1000)).json["filename"]
            readers = [pool.submit(lambda name=name: client.download(name).status) for _ in range(4)]
            client.request("DELETE", f"/repository/file/{name}")
            statuses += [reader.result() for reader in readers]

    assert set() == set(statuses) - {200, 404}


@pytest.mark.own_server
def test_the_connection_stays_open_after_an_answer_without_a_body(service, client, name):
    etag = client.download(name).headers["ETag"]
    request = f"GET /repository/file/{name} HTTP/1.1\r\nHost: x\r\nIf-None-Match: {etag}\r\n"
    with Wire(service) as wire:
        answers = [wire.send(f"{request}\r\n".encode()).reply("GET") for _ in range(2)]
        last = wire.send(f"{request}Connection: close\r\n\r\n".encode()).reply("GET")
        rest = wire.rest()

    assert [304, 304, 304] == [answer.status for answer in (*answers, last)]
    assert [None, None, "close"] == [answer.headers["Connection"] for answer in (*answers, last)]
    assert rest == b""
