"""HTTP API, 4.3: deleting versions."""

import pytest

from support.answers import NOBODY
from support.client import COLLECTIONS


@pytest.mark.databases
def test_a_version_is_deleted_by_its_number_or_its_id(root, three, collection):
    version_id = root.versions(collection)["1"]["details"]["id"]
    answer = root.delete(f"{three}/v2")
    assert (answer.status_int, answer.json) == (
        200,
        {"status": "OK, object deleted", "error_code": 200, "exit_code": 200},
    )
    left = root.get(f"{COLLECTIONS}/{collection}").json["collection"]
    assert (left["versions_count"], left["stored_size"], left["last_version"]) == (2, 8, 3)
    root.delete(f"{three}/{version_id}")
    assert set(root.versions(collection)) == {"3"}


@pytest.mark.databases
def test_bytes_shared_with_a_file_are_kept(root, three, anonymous):
    name = root.upload(b"one").json["filename"]
    root.delete(f"{three}/v1")

    assert anonymous.download(name).body == b"one"


@pytest.mark.databases
def test_an_unknown_version_cannot_be_deleted(root, three):
    for word in ["v9", "latest", "first", "x", NOBODY, "v0"]:
        answer = root.delete(f"{three}/{word}")

        assert (answer.status_int, answer.json["status"]) == (400, "Validation error"), word
        assert answer.json["fields"] == {"form.version": ["version_no_longer_exists"]}, word


@pytest.mark.databases
def test_a_version_of_another_collection_cannot_be_deleted(root, three, collection, make_collection):
    version_id = root.versions(collection)["1"]["details"]["id"]
    answer = root.delete(f"{COLLECTIONS}/{make_collection()}/backup/{version_id}")

    assert (answer.status_int, answer.json["errors"]) == (400, {"collection": "version_collection_mismatch"})


def test_a_simulated_deletion_answers_the_same_and_deletes_nothing(root, three, collection):
    for word in ["v9", "v2"]:
        simulated = root.delete(f"{three}/{word}", {"simulate": "true"}).json
        assert "2" in root.versions(collection), word
        assert simulated == root.delete(f"{three}/{word}").json, word
