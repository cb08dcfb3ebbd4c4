"""Equal contents of different collections in /api/v1: said to readers of both, never to those who upload."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import Version
from frepo_core.domain.roles import Role
from frepo_core.services.backups.same_content import LEAST_SIZE

COLLECTIONS = "/api/v1/collections"
CONTENT = b"x" * (LEAST_SIZE + 1)


@pytest.fixture
def make(root):
    """Make a collection of this name; return its path."""
    return lambda name: f"{COLLECTIONS}/{root.post(COLLECTIONS, {'name': name}).json['id']}"


@pytest.fixture
def pair(make):
    """The paths of two collections."""
    return make("web1-etc.tar"), make("web2-etc.tar")


@pytest.fixture
def send(root):
    return lambda path, content=CONTENT, caller=root: caller.call("PUT", f"{path}/versions", body=content)


@pytest.fixture
def same(root):
    """Return the names and numbers of the others that have the content of the newest version of a collection."""

    def same(path, caller=root):
        found = caller.get(f"{path}/versions/latest").json["same_content_in"]
        return [(one["name"], one["number"]) for one in found]

    return same


@pytest.fixture
def reader(root, holder, pair):
    """A token that may upload to the first collection and read its versions; no other one lists it."""
    caller = holder(Role.UPLOAD_VERSIONS, Role.UPLOAD_ALL, Role.LIST_VERSIONS, Role.VIEW_ALL_COLLECTIONS)
    root.post(f"/repository/collection/{pair[0].rpartition('/')[2]}/token", {"token": caller.token})
    return caller


@pytest.mark.costly
@pytest.mark.databases
def test_a_version_names_the_other_collections_with_its_content(root, pair, make, send, same):
    first, second = pair
    send(first)
    send(second, b"another")
    number = send(second).json["number"]
    send(second, b"a later one")
    send(make("other.tar"), CONTENT + b"!")

    shown = root.get(f"{first}/versions/latest").json["same_content_in"]

    at = root.get(f"{second}/versions/v{number}").json["created_at"]
    expected = {"collection": second.rpartition("/")[2], "name": "web2-etc.tar", "number": number, "at": at}
    assert [expected] == shown
    assert "ok" == root.get(first).json["state"]


def test_of_a_collection_with_several_the_newest_is_named(pair, send, same):
    for path in (*pair, pair[1], pair[1]):
        send(path)

    assert [("web2-etc.tar", 3)] == same(pair[0])


def test_a_token_that_may_not_list_the_other_versions_sees_nothing(root, pair, send, same, reader):
    for path in pair:
        send(path)

    assert [("web2-etc.tar", 1)] == same(pair[0])
    assert [] == same(pair[0], reader)

    root.post(f"/repository/collection/{pair[1].rpartition('/')[2]}/token", {"token": reader.token})

    assert [("web2-etc.tar", 1)] == same(pair[0], reader)


def test_no_answer_to_an_upload_says_whether_others_have_the_content(root, pair, send, same):
    first, second = pair
    send(first)

    known, unknown = send(second).json, send(second, CONTENT + b"!").json
    old, other = (root.push(second.rpartition("/")[2], content).json for content in (CONTENT, CONTENT + b"?"))

    assert same(first)
    assert known.keys() == unknown.keys()
    assert old["version"].keys() == other["version"].keys()
    assert old.keys() == other.keys()
    for answer in (known, old, root.get(f"{second}/versions").json, root.get(second).json):
        assert "same_content" not in str(answer)
        assert "web1" not in str(answer)


def test_small_contents_are_not_compared(pair, send, same):
    for path in pair:
        send(path, CONTENT[:LEAST_SIZE])

    assert [] == same(pair[0])


@pytest.mark.parametrize(("hours", "expected"), [(23, [("web1-etc.tar", 1)]), (25, [])])
def test_contents_are_compared_within_a_day(services, pair, send, same, hours, expected):
    send(pair[0])
    services.database.write(
        lambda session: session.execute(update(Version).values(created_at=utc_now() - timedelta(hours=hours)))
    )
    send(pair[1])

    assert expected == same(pair[1])


@pytest.mark.costly
def test_at_most_twenty_are_named(make, send, same):
    paths = [make(f"web{number:02}.tar") for number in range(22)]
    for path in paths:
        send(path)

    assert [(f"web{number:02}.tar", 1) for number in range(1, 21)] == same(paths[0])
