"""Edits at the same time on each database: If-Match lets one of them pass. And values at the edge of what is stored."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from webtest import TestApp

from support.client import Client

pytestmark = pytest.mark.databases

V1 = "/api/v1"
CLIENTS = 6


@pytest.fixture
def resources(root, collection):
    """The paths of one resource of each kind, and how to edit it differently each time."""
    path = f"{V1}/collections/{collection}"
    root.call("PUT", f"{path}/versions", body=b"one")
    token = root.post(f"{V1}/tokens", {"roles": ["upload.all"], "name": "host-7"}).json["fingerprint"]
    file = root.call("POST", f"{V1}/files", {"name": "a.txt"}, body=b"hello").json["name"]
    return {
        path: lambda number: {"description": f"edit {number}"},
        f"{path}/versions/v1": lambda number: {"note": f"edit {number}"},
        f"{V1}/tokens/{token}": lambda number: {"name": f"edit {number}"},
        f"{V1}/files/{file}": lambda number: {"tags": [f"edit{number}"]},
    }


def test_one_of_many_edits_with_the_same_etag_passes(app, admin, root, resources):
    for path, edit in resources.items():
        etag = root.get(path).headers["ETag"]
        barrier = threading.Barrier(CLIENTS)

        def send(number, path=path, edit=edit, etag=etag, barrier=barrier):
            client = Client(TestApp(app.app), admin)  # a TestApp has cookies of its own
            barrier.wait(60)
            return client.call("PATCH", path, json=edit(number), headers={"If-Match": etag})

        with ThreadPoolExecutor(CLIENTS) as threads:
            answers = list(threads.map(send, range(CLIENTS)))

        assert [200] + [412] * (CLIENTS - 1) == sorted(answer.status_int for answer in answers), path
        (passed,) = (number for number, answer in enumerate(answers) if answer.status_int == 200)
        shown = root.get(path)
        assert edit(passed) == {name: shown.json[name] for name in edit(passed)}
        assert shown.headers["ETag"] == answers[passed].headers["ETag"] != etag


def test_a_number_that_no_float_holds_is_refused(root, resources):
    for number in ["1e999", "-1e999"]:
        version = list(resources)[1]
        body = f'{{"outcome": "good", "details": {{"rows": [{{"size": {number}}}]}}}}'.encode()

        answer = root.call("POST", f"{version}/checks", body=body)

        assert (400, ["details.rows.size"]) == (answer.status_int, [one["field"] for one in answer.json["errors"]]), (
            number
        )
        assert [] == root.get(f"{version}/checks").json["items"], number


def test_the_first_time_of_all_is_in_the_past(root, resources):
    assert 400 == root.call("PATCH", list(resources)[2], json={"expires_at": "0001-01-01T00:00:00Z"}).status_int


def test_a_token_ends_at_each_time(root, resources):
    for end in ["2999-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]:
        token = list(resources)[2]

        assert 200 == root.call("PATCH", token, json={"expires_at": end}).status_int
        assert end == root.get(token).json["expires_at"]
        assert [end] == [
            one["expires_at"] for one in root.get(f"{V1}/tokens", {"q": "host-7", "sort": "expires_at"}).json["items"]
        ]
