"""An upload of a version that breaks off is an event: how much had arrived, and why it did not end."""

import json
import socket
import struct

import pytest

from support.wire import Client, Wire, eventually, head

pytestmark = pytest.mark.own_server  # other servers do not call the application then
MIB = 1 << 20
PATHS = ["/repository/collection/{}/backup", "/api/v1/collections/{}/versions"]


@pytest.fixture
def collection(client):
    return client.collection()


@pytest.fixture
def aborted(client):
    """Return the data of the events about a collection, the newest first."""

    def aborted(collection):
        path = f"/api/v1/events?kind=upload.aborted&collection={collection}"
        return [event["data"] for event in client.request("GET", path).json["items"]]

    return aborted


def reset(wire):
    """Reset the connection, as a killed process does."""
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()


@pytest.mark.parametrize("end", [Wire.close, Wire.half_close, reset])
@pytest.mark.parametrize("path", PATHS)
def test_a_body_that_breaks_off_is_an_event(service, client, aborted, end, path):
    for sent, size in [(b"x" * 10, 1000), (b"x" * MIB, 3 * MIB)]:
        collection = client.collection()
        with Wire(service) as wire:
            wire.send(head("POST", path.format(collection), client.auth, f"Content-Length: {size}"), sent)
            end(wire)

        assert 1 == eventually(1, lambda c=collection: len(aborted(c)))
        [data] = aborted(collection)
        assert (size, "disconnected", 1) == (data["size"], data["reason"], data["count"])
        assert data["received"] <= len(sent)


def test_a_chunked_body_has_no_size(service, client, collection, aborted):
    with Wire(service) as wire:
        fields = [client.auth, "Transfer-Encoding: chunked"]
        wire.send(head("POST", PATHS[0].format(collection), *fields), b"5\r\nhello\r\n").half_close()

    assert 1 == eventually(1, lambda: len(aborted(collection)))
    assert [{"received": 5, "size": None, "reason": "disconnected", "count": 1}] == aborted(collection)


def test_a_token_makes_one_event_a_minute(service, client, collection, aborted):
    for _ in range(3):
        with Wire(service) as wire:
            wire.send(head("POST", PATHS[0].format(collection), client.auth, "Content-Length: 10"), b"abc")

    assert 1 == eventually(1, lambda: len(aborted(collection)))
    client.push(collection, b"whole")
    assert 1 == len(aborted(collection))


def test_strangers_and_other_requests_leave_no_event(service, client, collection, aborted):
    weak = json.loads(client.request("POST", "/auth/token/generate", '{"roles": ["upload.all"]}').body)["tokenId"]
    paths = [
        PATHS[0].format(collection),
        f"/api/v1/collections/{collection}/runs",
        "/repository/file/upload?fileName=a",
    ]
    for path, auth in [(paths[0], "X-Auth-Token: nobody"), (paths[0], Client(service, weak).auth)] + [
        (path, client.auth) for path in paths[1:]
    ]:
        with Wire(service) as wire:
            wire.send(head("POST", path, auth, "Content-Length: 1000"), b"abc")
    with Wire(service) as wire:  # the events are written in this order
        wire.send(head("POST", paths[0], client.auth, "Content-Length: 77"), b"abc")

    assert 1 == eventually(1, lambda: len(aborted(collection)))
    assert [77] == [data["size"] for data in aborted(collection)]
