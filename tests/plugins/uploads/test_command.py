"""The command `frepo uploads`."""

import base64
import json

import pytest

from frepo_core.testing.running_service import RunningService


@pytest.fixture
def service(tmp_path, caplog):
    running = RunningService(tmp_path / "service", {}, caplog)
    yield running
    running.close()


def create(service, collection):
    headers = {
        "Tus-Resumable": "1.0.0",
        "Upload-Length": "5",
        "Upload-Metadata": f"collection {base64.b64encode(collection.encode()).decode()}",
    }
    answer = service.request("POST", "/api/v1/uploads", b"", headers=headers)
    assert 201 == answer.status, answer
    return answer.headers["location"].rpartition("/")[2]


@pytest.mark.costly
def test_the_command_lists_open_uploads_and_ends_one(service):
    collection = service.make_collection()
    first, second = create(service, collection), create(service, collection)
    listed = json.loads(service.run("uploads", "-f", "json").output)
    left = json.loads(service.run("uploads", "--end", first, "-f", "json").output)

    assert [(first, collection, "0", "5"), (second, collection, "0", "5")] == [
        (row["Upload"], row["Collection or file"], row["Received"], row["Size"]) for row in listed
    ]
    assert [second] == [row["Upload"] for row in left]


def test_an_upload_that_is_not_open_is_named(service):
    answer = service.run("uploads", "--end", "host-1")

    assert 0 != answer.status
    assert "host" in answer.errors
