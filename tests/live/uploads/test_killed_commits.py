"""A service that is killed while it stores an upload: the client repeats its request, and there is one version."""

import http.client

import pytest

from frepo_core.services.content.blobs.failpoints import ENVIRONMENT
from support.tus.client import PART, UPLOADS, metadata
from support.wire import Client

CONTENT = b"-- PostgreSQL database dump\nselect 1;\n" * 1000
HALF = len(CONTENT) // 2
KILLED = (ConnectionResetError, http.client.RemoteDisconnected)
TUS = {"Tus-Resumable": "1.0.0"}


def create(client, collection, **headers):
    """Create an upload with the first half of the content; return its path."""
    about = {"Upload-Length": str(len(CONTENT)), "Upload-Metadata": metadata(collection=collection)}
    reply = client.request("POST", UPLOADS, CONTENT[:HALF], TUS | about | headers | {"Content-Type": PART})
    assert 201 == reply.status, reply.body
    return reply.headers["Location"].removeprefix(client.service.url)


def send(client, path, offset):
    headers = {"Upload-Offset": str(offset), "Content-Type": PART}
    return client.request("PATCH", path, CONTENT[offset:], TUS | headers)


def commit(client, path):
    return client.request("POST", f"{path}/commit", b'{"exit_statuses": [0]}', {"Content-Type": "application/json"})


def offset(client, path):
    """Ask how much of the upload is there."""
    return int(client.request("HEAD", path, headers=TUS).headers["Upload-Offset"])


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


def versions(client, collection):
    """Return the paths of the collection's versions."""
    items = client.request("GET", f"/api/v1/collections/{collection}/versions").json["items"]
    return [f"/api/v1/collections/{collection}/versions/v{item['number']}" for item in items]


@pytest.mark.parametrize("point", ["store", "stored", "rows_written", "committed"])
def test_a_last_part_is_repeated_after_a_kill(start_dying, point):
    client, collection = start_dying(point)
    path = create(client, collection)
    with pytest.raises(KILLED):
        send(client, path, HALF)
    start_again(client.service)
    begin = offset(client, path)
    answer = send(client, path, begin)

    assert (len(CONTENT) if point == "committed" else HALF, 204) == (begin, answer.status)
    (only,) = versions(client, collection)
    assert only == answer.headers["Content-Location"].removeprefix(client.service.url)
    assert CONTENT == client.request("GET", f"{only}/content").body


@pytest.mark.parametrize("point", ["stored", "committed"])
def test_a_commit_is_repeated_after_a_kill(start_dying, point):
    client, collection = start_dying(point)
    path = create(client, collection, **{"Upload-Commit": "required"})
    assert 204 == send(client, path, HALF).status
    with pytest.raises(KILLED):
        commit(client, path)
    start_again(client.service)
    answer = commit(client, path)

    assert (200, "committed") == (answer.status, answer.json["state"])
    (only,) = versions(client, collection)
    assert only.endswith(f"/v{answer.json['version']['number']}")
    assert CONTENT == client.request("GET", f"{only}/content").body
