"""What lists and reports say about the verdicts of versions."""

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject

pytestmark = pytest.mark.databases

V1 = "/api/v1/collections"


@pytest.fixture
def mixed(make, push):
    """A collection whose versions are good, complete, pending, suspicious and broken."""
    collection = make(9)
    push(collection, "good", "complete", "pending", "odd", "broken")
    return collection


@pytest.fixture
def newest_good(root):
    """Return the number of the newest good version, as the collection and as the list of collections show it."""

    def newest_good(collection):
        shown = root.get(f"{V1}/{collection}").json
        (listed,) = (one for one in root.get(V1).json["items"] if one["id"] == collection)
        assert listed == shown | {"may": listed["may"]}
        good = shown["newest_good"] or {"number": None}
        number = good["number"]
        if number is not None:
            assert good["at"] == root.get(f"{V1}/{collection}/versions/v{number}").json["created_at"]
        return number

    return newest_good


def test_versions_are_listed_by_verdict(root, mixed):
    def numbers(query):
        return [one["number"] for one in root.get(f"{V1}/{mixed}/versions?{query}").json["items"]]

    assert [5] == numbers("verdict=broken")
    assert [5, 4, 3] == numbers("verdict=broken&verdict=suspicious&verdict=pending")
    assert [1, 2] == numbers("verdict=whole&verdict=complete&sort=number")
    assert [] == numbers("verdict=restored")
    first = root.get(f"{V1}/{mixed}/versions?verdict=broken&verdict=pending&limit=1").json
    second = root.get(f"{V1}/{mixed}/versions?verdict=broken&verdict=pending&limit=1&cursor={first['next']}").json
    assert [5, 3] == [one["number"] for page in (first, second) for one in page["items"]]
    assert second["next"] is None
    assert 400 == root.get(f"{V1}/{mixed}/versions?verdict=bad", expect_errors=True).status_int


def test_collections_are_found_by_the_verdicts_of_their_versions(root, mixed, make, push):
    other = make()
    push(other, "good")

    def found(*verdicts):
        query = "&".join(f"verdict={verdict}" for verdict in verdicts)
        return {one["id"] for one in root.get(f"{V1}?{query}").json["items"]}

    assert {mixed} == found("broken")
    assert {mixed, other} == found("whole", "broken")
    assert set() == found("restored")


def test_a_collection_shows_its_newest_good_version(make, push, mixed, newest_good, services):
    assert 2 == newest_good(mixed)

    collection = make()
    assert newest_good(collection) is None
    push(collection, "broken")
    assert newest_good(collection) is None
    push(collection, "good")
    assert 2 == newest_good(collection)

    services.database.write(
        lambda session: session.execute(update(StoredObject).values(state="damaged", since=utc_now()))
    )
    assert newest_good(collection) is None
    assert newest_good(mixed) is None


def test_the_overview_counts_verdicts(root, mixed):
    assert {"good": 2, "pending": 1, "suspicious": 1, "broken": 1} == root.get("/api/v1/overview").json["verdicts"]


def test_who_released_a_version_is_shown(root, mixed):
    path = f"{V1}/{mixed}/versions/v4"
    merge = {"Content-Type": "application/merge-patch+json"}

    released = root.call("PATCH", path, json={"quarantined": False}, headers=merge).json

    assert released["released_by"] == root.get(f"{V1}/{mixed}").json["created_by"]
    assert released["released_at"] is not None
    assert {None} == {
        one["released_by"] for one in root.get(f"{V1}/{mixed}/versions").json["items"] if one["number"] != 4
    }
