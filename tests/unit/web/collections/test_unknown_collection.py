"""Contract 4: a collection that does not exist is told alike by every endpoint, and to nobody without a token."""

import pytest

from support.answers import GONE, NOBODY
from support.client import COLLECTIONS

UNKNOWN = [
    ("GET", ""),
    ("DELETE", ""),
    ("POST", "/token"),
    ("DELETE", f"/token/{NOBODY}"),
    ("POST", "/backup"),
    ("GET", "/backup"),
    ("GET", "/backup/latest"),
    ("DELETE", "/backup/v1"),
    ("POST", "/version"),
]


@pytest.mark.parametrize(("method", "path"), UNKNOWN, ids=" ".join)
@pytest.mark.parametrize("unknown", [NOBODY, "x", "%00"])
def test_an_unknown_collection_is_told_alike_everywhere(root, method, path, unknown):
    answer = root.call(method, f"{COLLECTIONS}/{unknown}{path}")

    assert (answer.status_int, answer.json["status"], answer.json["fields"]) == (400, "Validation error", GONE)


@pytest.mark.parametrize("unknown", [NOBODY, "x", ""])
def test_an_unknown_collection_in_the_body_is_told_alike(root, unknown):
    answer = root.put(COLLECTIONS, {"collection": unknown})

    assert (answer.status_int, answer.json["fields"]) == (400, GONE)


@pytest.mark.parametrize(("method", "path"), UNKNOWN, ids=" ".join)
def test_without_a_token_no_collection_is_told_from_another(stranger, collection, method, path):
    answers = [stranger.call(method, f"{COLLECTIONS}/{each}{path}") for each in (collection, NOBODY)]

    assert [403, 403] == [answer.status_int for answer in answers]
    assert answers[0].json["status"] == answers[1].json["status"]
