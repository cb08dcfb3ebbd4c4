"""HTTP API, 4.3: listing versions and fetching one."""

from support.answers import NOBODY
from support.client import COLLECTIONS, follow

NOT_FOUND = {"status": "Object not found", "error_code": 404, "http_code": 404, "exit_code": 404, "url": None}


def test_an_empty_list_is_an_object(root, collection):
    answer = root.get(f"{COLLECTIONS}/{collection}/backup")

    assert (answer.status_int, answer.body) == (
        200,
        b'{"status":"OK","error_code":null,"exit_code":200,"versions":{}}\n',
    )


def test_versions_are_listed_ascending_by_number(root, collection):
    for number in range(11):
        root.push(collection, b"%d" % number)
    for path in ("backup", "version"):
        listed = root.get(f"{COLLECTIONS}/{collection}/{path}").json["versions"]
        assert list(listed) == [str(number) for number in range(1, 12)]


def test_a_listed_version_is_the_one_that_was_added(root, collection):
    added = root.push(collection).json["version"]

    assert root.versions(collection)["1"]["details"] == added


def test_a_version_is_fetched_by_words_and_by_its_id(lister, anonymous, three, root, collection):
    for word, content in [
        ("latest", b"three"),
        ("recent", b"three"),
        ("first", b"one"),
        ("v1", b"one"),
        ("v2", b"two"),
        ("V3", b"three"),
    ]:
        answer = lister.get(f"{three}/{word}")
        assert answer.status_int == 302, word
        assert follow(anonymous, answer.headers["Location"]).body == content

    version_id = root.versions(collection)["2"]["details"]["id"]
    assert follow(anonymous, root.get(f"{three}/{version_id}").headers["Location"]).body == b"two"
    assert root.get(f"{three}/v2").headers["Cache-Control"] == "private, no-store"
    root.delete(f"{three}/v1")
    assert follow(anonymous, root.get(f"{three}/first").headers["Location"]).body == b"two"


def test_an_unknown_version_is_not_found(root, three):
    for word in ["v4", "v0", "v01", "0", "2", "last", "LATEST", "v", "v-1", "v99999999999999999999", NOBODY]:
        for query in [{}, {"redirect": "false"}]:
            answer = root.get(f"{three}/{word}", query)

            assert answer.status_int == 404, word
            assert {name: value for name, value in answer.json.items() if name != "message"} == NOT_FOUND, word


def test_an_empty_collection_has_no_version_of_any_name(root, collection):
    for word in ["latest", "first", "recent"]:
        assert root.get(f"{COLLECTIONS}/{collection}/backup/{word}").json == NOT_FOUND, word


def test_a_version_of_another_collection_is_not_found(root, three, collection, make_collection):
    version_id = root.versions(collection)["1"]["details"]["id"]
    assert root.get(f"{COLLECTIONS}/{make_collection()}/backup/{version_id}").status_int == 404


def test_without_a_redirect_the_answer_contains_the_link(root, anonymous, three):
    for redirect in ["false", "0", "no"]:
        answer = root.get(f"{three}/v2", {"redirect": redirect})
        url = answer.json["url"]
        assert (answer.status_int, answer.json) == (
            200,
            {"status": "OK", "error_code": 200, "exit_code": 200, "url": url},
        )
        assert follow(anonymous, url).body == b"two", redirect

    assert set(root.get(f"{three}/v2", {"redirect": "maybe"}).json["fields"]) == {"form.redirect"}
