"""Errors of /api/v1 name its own fields, and repeat what the client has sent as it is."""

import json

import pytest

from support.answers import ONE, TOTAL

COLLECTIONS = "/api/v1/collections"


@pytest.fixture
def create(root):
    """Return the answer to a new collection, with its wrong fields."""

    def create(**body):
        answer = root.post(COLLECTIONS, {"name": "dump.sql.gz", **body}).json
        return answer["detail"], {one["field"]: one["message"] for one in answer["errors"]}

    return create


def test_a_text_of_the_client_is_repeated_as_it_was_sent(root, create):
    """A name of a field in the first API is only a text here."""
    for text in ["minRetention", "maxShrinkPercent", "strategyOptions", "fileName", "{field}"]:
        _, wrong = create(expected_every=text, grace=text)
        _, of_options = create(strategy="keep", strategy_options={text: 1})
        unknown = root.get("/api/v1/events", {"kind": text}, expect_errors=True).json["detail"]

        assert {"expected_every", "grace"} == wrong.keys()
        assert all(f"'{text}'" in said for said in (*wrong.values(), unknown))
        assert [f"strategy_options.{text}"] == list(of_options), text


def test_a_rule_about_limits_names_those_of_this_api(create):
    detail, wrong = create(limits={"version_size": 11, "total_size": 10})

    assert ["limits.total_size"] == list(wrong)
    assert "raise limits.total_size, or lower limits.version_size" in detail


def test_the_same_rule_names_the_fields_of_the_first_api_there(root):
    answer = root.create(**{ONE: 11, TOTAL: 10}).json

    assert TOTAL == answer["field"]
    assert f"raise {TOTAL}, or lower {ONE}" in answer["message"]


def test_a_foreseen_refusal_names_the_fields_of_the_api_that_is_asked(root, make_collection):
    collection = make_collection(**{ONE: 20, TOTAL: 20})
    root.push(collection, b"0123456789")
    lowered = {"collection": collection, ONE: 5}

    first = root.put("/repository/collection", lowered).json["next_upload"]["refused"]
    patched = root.call(
        "PATCH",
        f"{COLLECTIONS}/{collection}",
        json={"limits": {"version_size": 6}},
        headers={"Content-Type": "application/merge-patch+json"},
    )

    assert f"raise {ONE}" in first
    assert "raise limits.version_size" in patched.json["next_upload"]["refused"]


WORDS = ("minRetention", "maxShrinkPercent", "form.limits", "limits.versions", "guards.on_suspicious")
# What each API refuses, with the word ZZ in it.
FIRST = [
    {"filename": "ZZ/"},
    {"description": ["ZZ"]},
    {"strategy": "ZZ"},
    {"strategy": "keep", "strategyOptions": {"ZZ": "ZZ"}},
    {"minRetention": "ZZ"},
    {"onSuspicious": "ZZ"},
    {"filename": "ZZ.gz", ONE: 11, TOTAL: 10},
    {"filename": "ZZ.gz", "id": "ZZ"},
]
SECOND = [
    {"name": "ZZ/"},
    {"description": ["ZZ"]},
    {"labels": ["ZZ\u0000"]},
    {"labels": "ZZ"},
    {"strategy": "ZZ"},
    {"strategy": "keep", "strategy_options": {"ZZ": "ZZ"}},
    {"expected_every": "ZZ", "grace": "ZZ", "guards": {"min_retention": "ZZ", "on_suspicious": "ZZ"}},
    {"name": "ZZ.gz", "labels": ["ZZ"], "limits": {"version_size": 11, "total_size": 10}},
]


def test_no_error_of_either_api_rewrites_a_text_of_the_client(root):
    """The answer to a name of a field is that to any other text, but for the text itself."""

    def refusal(path, body, word):
        answer = root.post(path, json.loads(json.dumps(body).replace("ZZ", word)))
        assert answer.status_code in {400, 422}
        return answer.text

    for path, name, bodies in (("/repository/collection", "filename", FIRST), (COLLECTIONS, "name", SECOND)):
        for wrong in bodies:
            body = {name: "dump.gz", "description": "ZZ and ZZ"} | wrong
            expected = refusal(path, body, "anyword")
            for word in WORDS:
                assert expected.replace("anyword", word) == refusal(path, body, word)
