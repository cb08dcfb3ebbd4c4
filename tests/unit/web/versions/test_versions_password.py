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


def test_the_password_is_checked_when_a_version_is_fetched(lister, locked):
    for query in [{}, {"password": "wrong-5ecre7"}, {"password": ""}]:
        for redirect in ["true", "false"]:
            answer = lister.get(locked, {"redirect": redirect, **query})

            assert (answer.status_int, answer.json["status"], answer.json["url"]) == (403, CLOSED, None), query


def test_a_link_made_with_the_password_replaces_it(lister, anonymous, locked):
    for how in [{"query": {"password": "p-5ecre7"}}, {"headers": {"X-File-Password": "p-5ecre7"}}]:
        assert follow(anonymous, lister.get(locked, **how).headers["Location"]).body == b"secret", how


def test_view_any_file_needs_no_password(member, anonymous, locked):
    url = member(Role.LIST_VERSIONS, Role.VIEW_ANY_FILE).get(locked).headers["Location"]

    assert follow(anonymous, url).body == b"secret"


def test_a_link_in_the_list_needs_the_password(root, anonymous, locked, collection, lister):
    url = root.versions(collection)["1"]["url"]
    name = stored_name(url)

    assert follow(anonymous, url).status_int == 403
    assert follow(anonymous, f"{url}&password=p-5ecre7").body == b"secret"
    assert anonymous.download(name, {"password": "p-5ecre7"}).status_int == 403
    assert [lister.download(name, query).status_int for query in ({}, {"password": "p-5ecre7"})] == [403, 200]


def test_a_version_that_was_restored_has_its_password(root, lister, locked, collection):
    root.delete(f"/api/v1/collections/{collection}/versions/v1")
    root.post(f"/api/v1/collections/{collection}/trash/1/restore", None)

    asked = [lister.get(locked, query).status_int for query in ({}, {"password": "p-5ecre7"})]

    assert [403, 302] == asked
