"""A service that is killed while it stores an upload: the client repeats its request, and there is one version."""

import http.client

import pytest

from frepo_core.services.base.failpoints import ENVIRONMENT
from support.scale import first_of
from support.tus.wire_client import WireTus
from support.wire import Client, eventually

CONTENT = b"-- PostgreSQL database dump\nselect 1;\n" * 1000
HALF = len(CONTENT) // 2
KILLED = (ConnectionResetError, http.client.RemoteDisconnected)


@pytest.fixture
def start_dying(start_service):
    """Start a service that is killed when an upload reaches a point; return a client of it, and a collection."""

    def start_dying(point):
        service = start_service()
        client = Client(service)
        collection = client.collection(20)
        service.stop()
        service.environment[ENVIRONMENT] = point
        service.start()
        return client, collection

    return start_dying


def start_again(service):
    assert service.process.wait(30) < 0, "the service was not killed"
    del service.environment[ENVIRONMENT]
    service.start()


def offset_after_start(tus, path):
    """Return the offset. 423 is answered while the service that has started finds out about the upload: ask again."""
    eventually(False, lambda: tus.head(path).status == 423)
    return tus.offset(path)


def versions(client, collection):
    """Return the paths of the collection's versions."""
    items = client.request("GET", f"/api/v1/collections/{collection}/versions").json["items"]
    return [f"/api/v1/collections/{collection}/versions/v{item['number']}" for item in items]


@pytest.mark.parametrize("point", first_of(["committed", "store", "stored", "rows_written"]))
def test_a_last_part_is_repeated_after_a_kill(start_dying, point):
    client, collection = start_dying(point)
    tus = WireTus(client)
    path = tus.create(len(CONTENT), CONTENT[:HALF], collection=collection)
    with pytest.raises(KILLED):
        tus.patch(path, HALF, CONTENT[HALF:])
    start_again(client.service)
    begin = offset_after_start(tus, path)
    answer = tus.patch(path, begin, CONTENT[begin:])

    assert (len(CONTENT) if point == "committed" else HALF, 204) == (begin, answer.status)
    (only,) = versions(client, collection)
    assert only == answer.headers["Content-Location"].removeprefix(client.service.url)
    assert CONTENT == client.request("GET", f"{only}/content").body


@pytest.mark.parametrize("point", first_of(["committed", "stored"]))
def test_a_commit_is_repeated_after_a_kill(start_dying, point):
    client, collection = start_dying(point)
    tus = WireTus(client)
    path = tus.create(len(CONTENT), CONTENT[:HALF], {"Upload-Commit": "required"}, collection=collection)
    assert 204 == tus.patch(path, HALF, CONTENT[HALF:]).status
    with pytest.raises(KILLED):
        tus.commit(path, exit_statuses=[0])
    start_again(client.service)
    offset_after_start(tus, path)
    answer = tus.commit(path, exit_statuses=[0])

    assert (200, "committed") == (answer.status, answer.json["state"])
    (only,) = versions(client, collection)
    assert only.endswith(f"/v{answer.json['version']['number']}")
    assert CONTENT == client.request("GET", f"{only}/content").body
