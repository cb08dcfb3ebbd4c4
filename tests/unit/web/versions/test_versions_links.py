"""HTTP API, 2.4: signed links to versions, and permissions to read a version's file without one."""

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


def test_a_link_has_only_an_expiry_and_a_signature(app, lister, three):
    caller = Client(app)
    url = caller.get(f"{three}/v1", {"_token": lister.token, "password": "p-5ecre7"}).headers["Location"]

    assert set(parse_qs(urlsplit(url).query)) == {"expires", "signature"}


def test_a_listed_link_needs_no_token_and_is_never_stored_by_caches(root, anonymous, three, collection, url):
    assert follow(anonymous, root.versions(collection)["1"]["url"]).body == b"one"
    assert follow(anonymous, root.versions(collection)["1"]["url"]).headers["Cache-Control"] == "private, no-store"
    for prefix in ["/repository/file/", "/public/download/"]:
        assert anonymous.get(f"{prefix}{stored_name(url)}?{urlsplit(url).query}").status_int == 200, prefix
    assert 590 < int(parse_qs(urlsplit(url).query)["expires"][0]) - time.time() <= 600


def test_who_may_list_the_versions_or_view_any_file_may_download(lister, url, holder):
    assert lister.download(stored_name(url)).status_int == 200
    assert holder(Role.VIEW_ANY_FILE).download(stored_name(url)).status_int == 200
    assert holder(Role.LIST_VERSIONS, Role.MODIFY_ANY_COLLECTION).download(stored_name(url)).status_int == 200


def test_others_may_not_download(member, url, holder, anonymous):
    roles = set(Role) - {Role.LIST_VERSIONS, Role.VIEW_ANY_FILE, Role.ADMINISTRATOR}
    assert member(*roles).download(stored_name(url)).status_int == 403
    assert holder(Role.LIST_VERSIONS).download(stored_name(url)).status_int == 403
    answer = anonymous.download(stored_name(url))
    assert (answer.status_int, answer.json["status"]) == (403, CLOSED)


def test_the_list_of_another_collection_gives_no_access(root, holder, url, make_collection):
    caller = holder(Role.LIST_VERSIONS)
    root.post(f"{COLLECTIONS}/{make_collection()}/token", {"token": caller.token})

    assert caller.download(stored_name(url)).status_int == 403


def test_a_forged_signature_is_refused(anonymous, ini, url):
    for query in [
        {"expires": "{soon}", "signature": "0" * 64},
        {"expires": "{soon}", "signature": ""},
        {"expires": "", "signature": "{signature}"},
        {"expires": "x", "signature": "{signature}"},
        {"expires": "{later}", "signature": "{signature}"},
        {"expires": "\u0664\u0660", "signature": "{signature}"},
        {"expires": "{soon}", "signature": "\N{SNOWMAN}"},
        {"signature": "{signature}"},
        {"expires": "{soon}"},
    ]:
        name, soon = stored_name(url), int(time.time()) + 300
        words = {"soon": soon, "later": soon + 1, "signature": sign_link(ini["app.secret"], name, soon, unlocked=False)}
        answer = anonymous.download(name, {key: value.format(**words) for key, value in query.items()})

        assert answer.status_int == 403, query


def test_a_signature_made_with_the_secret_is_accepted(anonymous, ini, url):
    name, soon = stored_name(url), int(time.time()) + 300
    signature = sign_link(ini["app.secret"], name, soon, unlocked=False)
    assert anonymous.download(name, {"expires": soon, "signature": signature}).status_int == 200


def test_a_signature_that_is_expired_or_valid_too_long_is_refused(anonymous, ini, url):
    for expires in [OVER, int(time.time()) + MONTH]:
        name = stored_name(url)
        signature = sign_link(ini["app.secret"], name, expires, unlocked=True)
        assert anonymous.download(name, {"expires": expires, "signature": signature}).status_int == 403, expires


def test_a_signature_of_another_file_is_refused(root, anonymous, url, collection):
    other = root.versions(collection)["2"]["url"]
    assert anonymous.get(f"/repository/file/{stored_name(url)}?{urlsplit(other).query}").status_int == 403


def test_the_link_of_a_deleted_version_is_not_found(root, anonymous, url, three):
    root.delete(f"{three}/v1")

    assert follow(anonymous, url).status_int == 404
