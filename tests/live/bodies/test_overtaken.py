"""An upload notes the last version when its head arrives, however late its body ends."""

import pytest

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
        late = monday.send(b"monday").reply()

    assert (status, {4: "overtaken"}) == (late.status, quarantined(collection))
    assert ["2", "3", "4"] == list(client.versions(collection))
    assert b"thursday" == client.request("GET", V1.format(collection) + "/latest/content").body
