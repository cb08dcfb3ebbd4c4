"""Contract 4.3 and 2.4: reading versions, signed links, and deleting versions."""

import time
from urllib.parse import parse_qs, urlsplit

import pytest

from frepo_core.domain.roles import Role
from frepo_core.domain.signatures import sign_link
from web.client import COLLECTIONS, Client

NOBODY = "9b2ff1a2-8e2b-4d61-9d3c-8f6a3d6f1b11"
NOT_FOUND = {"status": "Object not found", "error_code": 404, "http_code": 404, "exit_code": 404, "url": None}
CLOSED = "No access to read the file, maybe invalid password?"
LATER = 4_000_000_000


@pytest.fixture
def three(root, collection):
    """The collection with three versions."""
    for content in (b"one", b"two", b"three"):
        root.push(collection, content)
    return f"{COLLECTIONS}/{collection}/backup"


@pytest.fixture
def locked(root, collection):
    """The path of a version with a password."""
    root.put(COLLECTIONS, {"collection": collection, "password": "p"})
    root.push(collection, b"secret")
    return f"{COLLECTIONS}/{collection}/backup/v1"


@pytest.fixture
def lister(member):
    return member(Role.LIST_VERSIONS)


def follow(stranger, url):
    return stranger.get(url.removeprefix("http://localhost:80"))


def stored_name(url):
    return urlsplit(url).path.rpartition("/")[2]


def test_an_empty_list_is_an_object(root, collection):
    answer = root.get(f"{COLLECTIONS}/{collection}/backup")

    assert (answer.status_int, answer.body) == (
        200,
        b'{"status":"OK","error_code":null,"exit_code":200,"versions":{}}',
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


def test_version_is_another_word_for_backup(root, three):
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
def test_a_version_is_fetched_by_these_words(lister, stranger, three, word, content):
    answer = lister.get(f"{three}/{word}")

    assert answer.status_int == 302
    assert follow(stranger, answer.headers["Location"]).body == content


def test_a_version_is_fetched_by_its_id(root, stranger, three, collection):
    version_id = root.versions(collection)["2"]["details"]["id"]
    answer = root.get(f"{three}/{version_id}")

    assert follow(stranger, answer.headers["Location"]).body == b"two"


def test_first_is_the_first_that_is_left(root, stranger, three):
    root.delete(f"{three}/v1")
    answer = root.get(f"{three}/first")

    assert follow(stranger, answer.headers["Location"]).body == b"two"


@pytest.mark.parametrize(
    "word", ["v4", "v0", "v01", "0", "2", "last", "LATEST", "v", "v-1", "v99999999999999999999", NOBODY]
)
@pytest.mark.parametrize("query", [{}, {"redirect": "false"}])
def test_an_unknown_version_is_not_found(root, three, word, query):
    answer = root.get(f"{three}/{word}", query)

    assert (answer.status_int, answer.json) == (404, NOT_FOUND)


@pytest.mark.parametrize("word", ["latest", "first", "recent"])
def test_an_empty_collection_has_no_version_of_any_name(root, collection, word):
    answer = root.get(f"{COLLECTIONS}/{collection}/backup/{word}")

    assert answer.json == NOT_FOUND


def test_a_version_of_another_collection_is_not_found(root, three, collection, make_collection):
    version_id = root.versions(collection)["1"]["details"]["id"]
    answer = root.get(f"{COLLECTIONS}/{make_collection()}/backup/{version_id}")

    assert answer.status_int == 404


@pytest.mark.parametrize("redirect", ["false", "0", "no"])
def test_without_a_redirect_the_link_is_told(root, stranger, three, redirect):
    answer = root.get(f"{three}/v2", {"redirect": redirect})
    url = answer.json["url"]

    assert (answer.status_int, answer.json) == (
        200,
        {"status": "OK", "error_code": 200, "exit_code": 200, "url": url},
    )
    assert follow(stranger, url).body == b"two"


def test_an_odd_redirect_is_refused(root, three):
    answer = root.get(f"{three}/v2", {"redirect": "maybe"})

    assert set(answer.json["fields"]) == {"form.redirect"}


def test_a_redirect_is_not_kept_by_caches(root, three):
    answer = root.get(f"{three}/v2")

    assert answer.headers["Cache-Control"] == "private, no-store"


def test_a_link_carries_an_end_and_a_signature_and_nothing_else(app, lister, three):
    caller = Client(app)
    url = caller.get(f"{three}/v1", {"_token": lister.token, "password": "p"}).headers["Location"]

    assert set(parse_qs(urlsplit(url).query)) == {"expires", "signature"}


def test_a_listed_link_needs_no_token(root, stranger, three, collection):
    url = root.versions(collection)["1"]["url"]

    assert follow(stranger, url).body == b"one"


def test_a_versions_file_is_never_kept_by_caches(root, stranger, three, collection):
    answer = follow(stranger, root.versions(collection)["1"]["url"])

    assert answer.headers["Cache-Control"] == "private, no-store"


@pytest.fixture
def url(root, three, collection):
    """A signed link to the first version."""
    return root.versions(collection)["1"]["url"]


def test_a_versions_file_is_closed_to_strangers(stranger, url):
    answer = stranger.download(stored_name(url))

    assert (answer.status_int, answer.json["status"]) == (403, CLOSED)


@pytest.mark.parametrize("prefix", ["/repository/file/", "/public/download/"])
def test_both_paths_take_a_signature(stranger, url, prefix):
    answer = stranger.get(f"{prefix}{stored_name(url)}?{urlsplit(url).query}")

    assert answer.status_int == 200


def test_a_versions_file_is_open_to_those_who_may_list(lister, url):
    answer = lister.download(stored_name(url))

    assert answer.status_int == 200


def test_a_versions_file_is_open_to_view_any_file(holder, url):
    answer = holder(Role.VIEW_ANY_FILE).download(stored_name(url))

    assert answer.status_int == 200


def test_a_listed_token_without_the_role_may_not_download(member, url):
    roles = set(Role) - {Role.LIST_VERSIONS, Role.VIEW_ANY_FILE, Role.ADMINISTRATOR}
    answer = member(*roles).download(stored_name(url))

    assert answer.status_int == 403


def test_the_role_without_the_list_may_not_download(holder, url):
    answer = holder(Role.LIST_VERSIONS).download(stored_name(url))

    assert answer.status_int == 403


def test_the_role_with_modify_any_may_download(holder, url):
    answer = holder(Role.LIST_VERSIONS, Role.MODIFY_ANY_COLLECTION).download(stored_name(url))

    assert answer.status_int == 200


def test_a_list_of_another_collection_opens_nothing(root, holder, url, make_collection):
    caller = holder(Role.LIST_VERSIONS)
    root.post(f"{COLLECTIONS}/{make_collection()}/token", {"token": caller.token})

    assert caller.download(stored_name(url)).status_int == 403


@pytest.mark.parametrize(
    "query",
    [
        {"expires": LATER, "signature": "0" * 64},
        {"expires": LATER, "signature": ""},
        {"expires": "", "signature": "{}"},
        {"expires": "x", "signature": "{}"},
        {"expires": LATER + 1, "signature": "{}"},
        {"expires": "\u0664\u0660", "signature": "{}"},
        {"expires": LATER, "signature": "\N{SNOWMAN}"},
        {"signature": "{}"},
        {"expires": LATER},
    ],
)
def test_a_forged_signature_opens_nothing(stranger, ini, url, query):
    name = stored_name(url)
    signature = sign_link(ini["app.secret"], name, LATER, unlocked=False)
    answer = stranger.download(name, {key: str(value).format(signature) for key, value in query.items()})

    assert answer.status_int == 403


def test_a_signature_that_is_made_with_the_secret_opens(stranger, ini, url):
    name = stored_name(url)
    signature = sign_link(ini["app.secret"], name, LATER, unlocked=False)
    answer = stranger.download(name, {"expires": LATER, "signature": signature})

    assert answer.status_int == 200


def test_an_expired_signature_opens_nothing(stranger, ini, url):
    name = stored_name(url)
    signature = sign_link(ini["app.secret"], name, 1_000_000_000, unlocked=True)
    answer = stranger.download(name, {"expires": 1_000_000_000, "signature": signature})

    assert answer.status_int == 403


def test_a_signature_of_another_file_opens_nothing(root, stranger, url, collection):
    other = root.versions(collection)["2"]["url"]
    answer = stranger.get(f"/repository/file/{stored_name(url)}?{urlsplit(other).query}")

    assert answer.status_int == 403


def test_a_signature_is_good_for_ten_minutes(url):
    end = int(parse_qs(urlsplit(url).query)["expires"][0])

    assert 590 < end - time.time() <= 600


@pytest.mark.parametrize("query", [{}, {"password": "wrong"}, {"password": ""}])
@pytest.mark.parametrize("redirect", ["true", "false"])
def test_the_password_is_checked_when_a_version_is_fetched(lister, locked, query, redirect):
    answer = lister.get(locked, {"redirect": redirect, **query})

    assert (answer.status_int, answer.json["status"], answer.json["url"]) == (403, CLOSED, None)


@pytest.mark.parametrize("how", [{"query": {"password": "p"}}, {"headers": {"X-File-Password": "p"}}])
def test_where_the_password_was_given_the_link_stands_for_it(lister, stranger, locked, how):
    url = lister.get(locked, **how).headers["Location"]

    assert follow(stranger, url).body == b"secret"


def test_view_any_file_needs_no_password(member, stranger, locked):
    url = member(Role.LIST_VERSIONS, Role.VIEW_ANY_FILE).get(locked).headers["Location"]

    assert follow(stranger, url).body == b"secret"


def test_a_link_in_the_list_never_stands_for_the_password(root, stranger, locked, collection):
    url = root.versions(collection)["1"]["url"]

    assert follow(stranger, url).status_int == 403


def test_a_link_in_the_list_opens_with_the_password(root, stranger, locked, collection):
    url = root.versions(collection)["1"]["url"]

    assert follow(stranger, f"{url}&password=p").body == b"secret"


def test_the_password_alone_opens_no_version(root, stranger, locked, collection):
    name = stored_name(root.versions(collection)["1"]["url"])

    assert stranger.download(name, {"password": "p"}).status_int == 403


def test_a_lister_needs_the_password_too(root, lister, locked, collection):
    name = stored_name(root.versions(collection)["1"]["url"])

    assert [lister.download(name, query).status_int for query in ({}, {"password": "p"})] == [403, 200]


def test_a_deleted_version_is_told(root, three):
    answer = root.delete(f"{three}/v2")

    assert (answer.status_int, answer.json) == (
        200,
        {"status": "OK, object deleted", "error_code": 200, "exit_code": 200},
    )


def test_a_version_is_deleted_by_its_id(root, three, collection):
    version_id = root.versions(collection)["2"]["details"]["id"]
    root.delete(f"{three}/{version_id}")

    assert set(root.versions(collection)) == {"1", "3"}


def test_a_deleted_version_is_no_longer_counted(root, three, collection):
    root.delete(f"{three}/v2")
    left = root.get(f"{COLLECTIONS}/{collection}").json["collection"]

    assert (left["versions_count"], left["stored_size"], left["last_version"]) == (2, 8, 3)


def test_a_deleted_versions_link_is_dead(root, stranger, url, three):
    root.delete(f"{three}/v1")

    assert follow(stranger, url).status_int == 404


def test_a_deleted_version_takes_its_bytes_along(root, three, tmp_path):
    root.delete(f"{three}/v1")

    assert 2 == sum(path.is_file() for path in (tmp_path / "storage").rglob("*"))


def test_bytes_shared_with_a_file_stay(root, three, stranger):
    name = root.upload(b"one").json["filename"]
    root.delete(f"{three}/v1")

    assert stranger.download(name).body == b"one"


@pytest.mark.parametrize("word", ["v9", "latest", "first", "x", NOBODY, "v0"])
def test_an_unknown_version_cannot_be_deleted(root, three, word):
    answer = root.delete(f"{three}/{word}")

    assert (answer.status_int, answer.json["status"]) == (400, "Validation error")
    assert answer.json["fields"] == {"form.version": ["version_no_longer_exists"]}


def test_a_version_of_another_collection_cannot_be_deleted(root, three, collection, make_collection):
    version_id = root.versions(collection)["1"]["details"]["id"]
    answer = root.delete(f"{COLLECTIONS}/{make_collection()}/backup/{version_id}")

    assert (answer.status_int, answer.json["errors"]) == (400, {"collection": "version_collection_mismatch"})


@pytest.mark.parametrize("word", ["v2", "v9"])
def test_a_simulated_deletion_answers_the_same(root, three, word):
    answers = [root.delete(f"{three}/{word}", query) for query in ({"simulate": "true"}, {})]

    assert answers[0].json == answers[1].json


def test_a_simulated_deletion_deletes_nothing(root, three, collection):
    root.delete(f"{three}/v2", {"simulate": "true"})

    assert set(root.versions(collection)) == {"1", "2", "3"}


def test_listing_does_not_allow_deletion(lister, three):
    answer = lister.delete(f"{three}/v1")

    assert answer.status_int == 403
