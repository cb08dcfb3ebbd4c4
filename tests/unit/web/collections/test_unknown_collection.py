"""HTTP API, 4: every endpoint reports an unknown collection alike, and only to requests with a token."""

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
def test_every_endpoint_reports_an_unknown_collection_alike(root, method, path, unknown):
    answer = root.call(method, f"{COLLECTIONS}/{unknown}{path}")

    assert (answer.status_int, answer.json["status"], answer.json["fields"]) == (400, "Validation error", GONE)


@pytest.mark.parametrize("unknown", [NOBODY, "x", ""])
def test_an_unknown_collection_in_the_body_is_reported_alike(root, unknown):
    answer = root.put(COLLECTIONS, {"collection": unknown})

    assert (answer.status_int, answer.json["fields"]) == (400, GONE)


@pytest.mark.parametrize(("method", "path"), UNKNOWN, ids=" ".join)
def test_without_a_token_unknown_and_known_collections_answer_alike(anonymous, collection, method, path):
    answers = [anonymous.call(method, f"{COLLECTIONS}/{each}{path}") for each in (collection, NOBODY)]

    assert [403, 403] == [answer.status_int for answer in answers]
    assert answers[0].json["status"] == answers[1].json["status"]
