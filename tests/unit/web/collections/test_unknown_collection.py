"""HTTP API, 4: every endpoint reports an unknown collection alike, and only to requests with a token."""

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


def test_every_endpoint_reports_an_unknown_collection_alike(root):
    for method, path in UNKNOWN:
        for unknown in [NOBODY, "x", "%00"]:
            answer = root.call(method, f"{COLLECTIONS}/{unknown}{path}")

            assert (answer.status_int, answer.json["status"], answer.json["fields"]) == (
                400,
                "Validation error",
                GONE,
            ), method


def test_an_unknown_collection_in_the_body_is_reported_alike(root):
    for unknown in [NOBODY, "x", ""]:
        answer = root.put(COLLECTIONS, {"collection": unknown})

        assert (answer.status_int, answer.json["fields"]) == (400, GONE), unknown


def test_without_a_token_unknown_and_known_collections_answer_alike(anonymous, collection):
    for method, path in UNKNOWN:
        answers = [anonymous.call(method, f"{COLLECTIONS}/{each}{path}") for each in (collection, NOBODY)]

        assert [403, 403] == [answer.status_int for answer in answers], method
        assert answers[0].json["status"] == answers[1].json["status"], method
