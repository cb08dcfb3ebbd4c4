"""HTTP API, 4.3 and 2.4: versions with a password, and links that replace it."""

import pytest

from frepo_core.domain.roles import Role
from support.answers import CLOSED
from support.client import COLLECTIONS, follow, stored_name


@pytest.fixture
def locked(root, collection):
    """The path of a version with a password."""
    root.put(COLLECTIONS, {"collection": collection, "password": "p-5ecre7"})
    root.push(collection, b"secret")
    return f"{COLLECTIONS}/{collection}/backup/v1"


@pytest.mark.parametrize("query", [{}, {"password": "wrong-5ecre7"}, {"password": ""}])
@pytest.mark.parametrize("redirect", ["true", "false"])
def test_the_password_is_checked_when_a_version_is_fetched(lister, locked, query, redirect):
    answer = lister.get(locked, {"redirect": redirect, **query})

    assert (answer.status_int, answer.json["status"], answer.json["url"]) == (403, CLOSED, None)


def test_a_link_made_with_the_password_replaces_it(lister, anonymous, locked):
    for how in [{"query": {"password": "p-5ecre7"}}, {"headers": {"X-File-Password": "p-5ecre7"}}]:
        url = lister.get(locked, **how).headers["Location"]

        assert follow(anonymous, url).body == b"secret", how


def test_view_any_file_needs_no_password(member, anonymous, locked):
    url = member(Role.LIST_VERSIONS, Role.VIEW_ANY_FILE).get(locked).headers["Location"]

    assert follow(anonymous, url).body == b"secret"


def test_a_link_in_the_list_never_replaces_the_password(root, anonymous, locked, collection):
    url = root.versions(collection)["1"]["url"]

    assert follow(anonymous, url).status_int == 403


def test_a_link_in_the_list_works_with_the_password(root, anonymous, locked, collection):
    url = root.versions(collection)["1"]["url"]

    assert follow(anonymous, f"{url}&password=p-5ecre7").body == b"secret"


def test_the_password_alone_gives_no_access(root, anonymous, locked, collection):
    name = stored_name(root.versions(collection)["1"]["url"])

    assert anonymous.download(name, {"password": "p-5ecre7"}).status_int == 403


def test_a_lister_needs_the_password_too(root, lister, locked, collection):
    name = stored_name(root.versions(collection)["1"]["url"])

    assert [lister.download(name, query).status_int for query in ({}, {"password": "p-5ecre7"})] == [403, 200]
