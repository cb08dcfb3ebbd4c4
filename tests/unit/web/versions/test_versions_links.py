"""Contract 2.4: the signed links to versions, and who may read a version's file without one."""

import time
from urllib.parse import parse_qs, urlsplit

import pytest

from frepo_core.domain.roles import Role
from frepo_core.domain.signatures import sign_link
from support.answers import CLOSED
from support.client import COLLECTIONS, Client, follow, stored_name

OVER, MONTH = 1_000_000_000, 30 * 86400


@pytest.fixture
def url(root, three, collection):
    """A signed link to the first version."""
    return root.versions(collection)["1"]["url"]


def test_a_link_carries_an_end_and_a_signature_and_nothing_else(app, lister, three):
    caller = Client(app)
    url = caller.get(f"{three}/v1", {"_token": lister.token, "password": "p-5ecre7"}).headers["Location"]

    assert set(parse_qs(urlsplit(url).query)) == {"expires", "signature"}


def test_a_listed_link_needs_no_token(root, stranger, three, collection):
    url = root.versions(collection)["1"]["url"]

    assert follow(stranger, url).body == b"one"


def test_a_versions_file_is_never_kept_by_caches(root, stranger, three, collection):
    answer = follow(stranger, root.versions(collection)["1"]["url"])

    assert answer.headers["Cache-Control"] == "private, no-store"


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
        {"expires": "{soon}", "signature": "0" * 64},
        {"expires": "{soon}", "signature": ""},
        {"expires": "", "signature": "{signature}"},
        {"expires": "x", "signature": "{signature}"},
        {"expires": "{later}", "signature": "{signature}"},
        {"expires": "\u0664\u0660", "signature": "{signature}"},
        {"expires": "{soon}", "signature": "\N{SNOWMAN}"},
        {"signature": "{signature}"},
        {"expires": "{soon}"},
    ],
)
def test_a_forged_signature_opens_nothing(stranger, ini, url, query):
    name, soon = stored_name(url), int(time.time()) + 300
    words = {"soon": soon, "later": soon + 1, "signature": sign_link(ini["app.secret"], name, soon, unlocked=False)}
    answer = stranger.download(name, {key: value.format(**words) for key, value in query.items()})

    assert answer.status_int == 403


def test_a_signature_that_is_made_with_the_secret_opens(stranger, ini, url):
    name, soon = stored_name(url), int(time.time()) + 300
    signature = sign_link(ini["app.secret"], name, soon, unlocked=False)
    answer = stranger.download(name, {"expires": soon, "signature": signature})

    assert answer.status_int == 200


@pytest.mark.parametrize("expires", [OVER, int(time.time()) + MONTH], ids=["over", "too-long"])
def test_a_signature_that_is_over_or_lasts_too_long_opens_nothing(stranger, ini, url, expires):
    name = stored_name(url)
    signature = sign_link(ini["app.secret"], name, expires, unlocked=True)
    answer = stranger.download(name, {"expires": expires, "signature": signature})

    assert answer.status_int == 403


def test_a_signature_of_another_file_opens_nothing(root, stranger, url, collection):
    other = root.versions(collection)["2"]["url"]
    answer = stranger.get(f"/repository/file/{stored_name(url)}?{urlsplit(other).query}")

    assert answer.status_int == 403


def test_a_signature_is_good_for_ten_minutes(url):
    end = int(parse_qs(urlsplit(url).query)["expires"][0])

    assert 590 < end - time.time() <= 600


def test_a_deleted_versions_link_is_dead(root, stranger, url, three):
    root.delete(f"{three}/v1")

    assert follow(stranger, url).status_int == 404
