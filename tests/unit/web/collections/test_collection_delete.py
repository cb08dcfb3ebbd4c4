"""HTTP API, 4.1: deleting collections."""

import pytest

from support.answers import GONE
from support.client import COLLECTIONS, refusal


def test_the_answer_of_a_deletion_shows_the_collection(root, collection):
    before = root.get(f"{COLLECTIONS}/{collection}").json["collection"]
    answer = root.delete(f"{COLLECTIONS}/{collection}")

    assert answer.status_int == 200
    assert answer.json == {
        "status": "OK, collection was deleted",
        "error_code": None,
        "http_code": 200,
        "exit_code": 200,
        "errors": {},
        "collection": before,
        "context": None,
    }


@pytest.mark.databases
def test_a_collection_with_versions_is_not_deleted(root, collection):
    for query in [{}, {"simulate": "true"}]:
        root.push(collection)
        answer = root.delete(f"{COLLECTIONS}/{collection}", query)

        expected = {"collection": "collection_cannot_be_deleted_while_it_contains_not_deleted_versions"}
        assert refusal(answer) == (400, "Logic validation error", 4005, expected), query


@pytest.mark.databases
def test_a_collection_can_be_deleted_after_its_versions(root, collection):
    root.push(collection)
    root.delete(f"{COLLECTIONS}/{collection}/backup/v1")

    assert root.delete(f"{COLLECTIONS}/{collection}").status_int == 200


def test_a_simulated_deletion_deletes_nothing(root, collection):
    answer = root.delete(f"{COLLECTIONS}/{collection}", {"simulate": "true"})
    assert answer.json["status"] == "OK, collection was deleted"
    assert root.get(f"{COLLECTIONS}/{collection}").status_int == 200

    root.delete(f"{COLLECTIONS}/{collection}")
    assert root.get(f"{COLLECTIONS}/{collection}").json["fields"] == GONE
