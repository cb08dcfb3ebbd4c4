"""HTTP API, 4.3: deleting versions."""

import pytest

from support.answers import NOBODY
from support.client import COLLECTIONS, with_settings


def test_the_answer_of_a_deletion_shows_the_version(root, three):
    answer = root.delete(f"{three}/v2")

    assert (answer.status_int, answer.json) == (
        200,
        {"status": "OK, object deleted", "error_code": 200, "exit_code": 200},
    )


@pytest.mark.databases
def test_a_version_is_deleted_by_its_id(root, three, collection):
    version_id = root.versions(collection)["2"]["details"]["id"]
    root.delete(f"{three}/{version_id}")

    assert set(root.versions(collection)) == {"1", "3"}


@pytest.mark.databases
def test_a_deleted_version_is_no_longer_counted(root, three, collection):
    root.delete(f"{three}/v2")
    left = root.get(f"{COLLECTIONS}/{collection}").json["collection"]

    assert (left["versions_count"], left["stored_size"], left["last_version"]) == (2, 8, 3)


@with_settings(trash__keep="0")
def test_deleting_a_version_deletes_its_bytes_if_the_trash_is_off(root, three, tmp_path):
    root.delete(f"{three}/v1")

    assert 2 == sum(path.is_file() for path in (tmp_path / "storage").rglob("*"))


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


def test_a_simulated_deletion_answers_the_same(root, three):
    for word in ["v2", "v9"]:
        answers = [root.delete(f"{three}/{word}", query) for query in ({"simulate": "true"}, {})]

        assert answers[0].json == answers[1].json, word


def test_a_simulated_deletion_deletes_nothing(root, three, collection):
    root.delete(f"{three}/v2", {"simulate": "true"})

    assert set(root.versions(collection)) == {"1", "2", "3"}
