"""An upload notes the last version when its head arrives, however late its body ends."""

import socket
import time

import pytest

from frepo_server.request_parser import SILENCE
from support.wire import Wire, head

pytestmark = pytest.mark.own_server  # other servers call the application when the body is complete

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
OLD, V1 = "/repository/collection/{}/backup", "/api/v1/collections/{}/versions"


@pytest.fixture
def quarantined(client):
    """Return the reasons of the versions in quarantine by their numbers."""

    def quarantined(collection):
        items = client.request("GET", V1.format(collection)).json["items"]
        return {one["number"]: one["quarantine_reason"] for one in items if one["quarantined"]}

    return quarantined


@pytest.mark.parametrize(("path", "status"), [(OLD, 200), (V1, 201)])
@pytest.mark.parametrize("key", [[], ["Idempotency-Key: monday"]], ids=["without a key", "with a key"])
def test_a_body_that_ends_after_newer_versions_is_quarantined(service, client, quarantined, path, status, key):
    collection = client.collection(2)
    with Wire(service) as monday:
        fields = [client.auth, "Content-Length: 6", "Expect: 100-continue", *key]
        monday.send(head("POST", path.format(collection), *fields))
        assert CONTINUE == monday.socket.recv(100)
        for night in (b"tuesday", b"wednesday", b"thursday"):
            client.push(collection, night)
        monday.send(b"monday").socket.shutdown(socket.SHUT_WR)
        late = monday.reply()

    assert (status, {4: "overtaken"}) == (late.status, quarantined(collection))
    assert ["2", "3", "4"] == list(client.versions(collection))
    assert b"thursday" == client.request("GET", V1.format(collection) + "/latest/content").body


def test_bodies_that_overlap_are_accepted(service, client, quarantined):
    """Several jobs with one token: each of them waits for its answer."""
    collection = client.collection(5)
    with Wire(service) as slow:
        slow.send(head("POST", OLD.format(collection), client.auth, "Content-Length: 4", "Expect: 100-continue"))
        assert CONTINUE == slow.socket.recv(100)
        for job in (b"first", b"second", b"third"):
            client.push(collection, job)
        answer = slow.send(b"slow").reply()

    assert (200, {}) == (answer.status, {one: why for one, why in quarantined(collection).items() if why})


@pytest.mark.costly
def test_a_body_that_was_silent_and_was_sent_again_is_quarantined(service, client, quarantined):
    """Its connection is still open: a proxy keeps it."""
    collection = client.collection(5)
    with Wire(service) as monday:
        monday.send(head("POST", OLD.format(collection), client.auth, "Content-Length: 6", "Expect: 100-continue"))
        assert CONTINUE == monday.socket.recv(100)
        monday.send(b"mon")
        time.sleep(0.5)
        for body in (b"monday", b"tuesday"):
            client.push(collection, body)
        time.sleep(SILENCE + 0.5)
        answer = monday.send(b"day").reply()

    assert (200, "overtaken") == (answer.status, quarantined(collection)[3])
