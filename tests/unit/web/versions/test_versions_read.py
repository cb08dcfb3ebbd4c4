"""HTTP API, 4.3: listing versions and fetching one."""

import pytest

from support.answers import NOBODY
from support.client import COLLECTIONS, follow

NOT_FOUND = {"status": "Object not found", "error_code": 404, "http_code": 404, "exit_code": 404, "url": None}


def test_an_empty_list_is_an_object(root, collection):
    answer = root.get(f"{COLLECTIONS}/{collection}/backup")

    assert (answer.status_int, answer.body) == (
        200,
        b'{"status":"OK","error_code":null,"exit_code":200,"versions":{}}\n',
    )


def test_versions_are_listed_ascending_by_number(root, three):
    answer = root.get(three)

    assert list(answer.json["versions"]) == ["1", "2", "3"]


def test_a_list_of_many_is_in_order_of_numbers(root, collection):
    for number in range(11):
        root.push(collection, b"%d" % number)

    assert list(root.versions(collection)) == [str(number) for number in range(1, 12)]


def test_a_listed_version_is_the_one_that_was_added(root, collection):
    added = root.push(collection).json["version"]

    assert root.versions(collection)["1"]["details"] == added


def test_version_is_a_synonym_of_backup(root, three):
    answer = root.get(three.replace("/backup", "/version"))

    assert set(answer.json["versions"]) == {"1", "2", "3"}


@pytest.mark.parametrize(
    ("word", "content"),
    [
        ("latest", b"three"),
        ("recent", b"three"),
        ("first", b"one"),
        ("v1", b"one"),
        ("v2", b"two"),
        ("V3", b"three"),
    ],
)
def test_a_version_is_fetched_by_these_words(lister, anonymous, three, word, content):
    answer = lister.get(f"{three}/{word}")

    assert answer.status_int == 302
    assert follow(anonymous, answer.headers["Location"]).body == content


def test_a_version_is_fetched_by_its_id(root, anonymous, three, collection):
    version_id = root.versions(collection)["2"]["details"]["id"]
    answer = root.get(f"{three}/{version_id}")

    assert follow(anonymous, answer.headers["Location"]).body == b"two"


def test_first_is_the_oldest_remaining_version(root, anonymous, three):
    root.delete(f"{three}/v1")
    answer = root.get(f"{three}/first")

    assert follow(anonymous, answer.headers["Location"]).body == b"two"


def test_an_unknown_version_is_not_found(root, three):
    for word in ["v4", "v0", "v01", "0", "2", "last", "LATEST", "v", "v-1", "v99999999999999999999", NOBODY]:
        for query in [{}, {"redirect": "false"}]:
            answer = root.get(f"{three}/{word}", query)

            assert answer.status_int == 404, word
            assert {name: value for name, value in answer.json.items() if name != "message"} == NOT_FOUND, word


def test_an_empty_collection_has_no_version_of_any_name(root, collection):
    for word in ["latest", "first", "recent"]:
        answer = root.get(f"{COLLECTIONS}/{collection}/backup/{word}")

        assert answer.json == NOT_FOUND, word


def test_a_version_of_another_collection_is_not_found(root, three, collection, make_collection):
    version_id = root.versions(collection)["1"]["details"]["id"]
    answer = root.get(f"{COLLECTIONS}/{make_collection()}/backup/{version_id}")

    assert answer.status_int == 404


@pytest.mark.parametrize("redirect", ["false", "0", "no"])
def test_without_a_redirect_the_answer_contains_the_link(root, anonymous, three, redirect):
    answer = root.get(f"{three}/v2", {"redirect": redirect})
    url = answer.json["url"]

    assert (answer.status_int, answer.json) == (
        200,
        {"status": "OK", "error_code": 200, "exit_code": 200, "url": url},
    )
    assert follow(anonymous, url).body == b"two"


def test_an_invalid_redirect_parameter_is_refused(root, three):
    answer = root.get(f"{three}/v2", {"redirect": "maybe"})

    assert set(answer.json["fields"]) == {"form.redirect"}


def test_a_redirect_is_not_stored_by_caches(root, three):
    answer = root.get(f"{three}/v2")

    assert answer.headers["Cache-Control"] == "private, no-store"
