"""Holds in `/api/v1`, the first API and the console of commands: who sets one, who ends it, and who sees it."""

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event
from frepo_core.domain.roles import Role

COLLECTIONS = "/api/v1/collections"
WHY = {"reason": "case 4711"}


@pytest.fixture
def path(root, collection):
    """The path of a collection with versions 1 to 3, which is full."""
    path = f"{COLLECTIONS}/{collection}"
    for content in (b"one", b"two", b"three"):
        assert 201 == root.call("PUT", f"{path}/versions", body=content).status_int
    body = {"limits": {"versions": 3}}
    root.call("PATCH", path, json=body, headers={"Content-Type": "application/merge-patch+json"})
    return path


def test_a_hold_is_set_seen_and_ended(services, root, path, collection):
    held = root.call("PUT", f"{path}/hold", json=WHY)

    assert (200, "case 4711") == (held.status_int, held.json["hold"]["reason"])
    assert held.json["hold"] == root.get(path).json["hold"]
    [listed] = root.get("/api/v1/holds").json["items"]
    assert (collection, 3, held.json["hold"]) == (listed["collection"], listed["versions"], listed["hold"])
    assert 201 == root.call("PUT", f"{path}/versions", body=b"four").status_int
    assert [4, 3, 2, 1] == [one["number"] for one in root.get(f"{path}/versions").json["items"]]
    refused = root.delete(f"{path}/versions/v1")
    assert (409, 4028) == (refused.status_int, refused.json["code"])
    assert "case 4711" in refused.json["detail"]

    assert 204 == root.delete(f"{path}/hold").status_int == root.delete(f"{path}/hold").status_int
    assert root.get(path).json["hold"] is None
    assert [] == root.get("/api/v1/holds").json["items"]
    with services.database.reading() as session:
        kinds = session.scalars(select(Event.kind).where(Event.kind.startswith("collection.h"))).all()
    assert ["collection.held", "collection.hold_ended"] == kinds


def test_who_sets_a_hold_cannot_end_it(path, member):
    setter, ender = member(Role.HOLD_COLLECTIONS), member(Role.END_HOLDS)

    assert 403 == ender.call("PUT", f"{path}/hold", json=WHY).status_int
    assert 200 == setter.call("PUT", f"{path}/hold", json=WHY).status_int
    assert 403 == setter.delete(f"{path}/hold").status_int
    assert 204 == ender.delete(f"{path}/hold").status_int


@pytest.mark.parametrize("reason", ["", "   ", "x" * 1001])
def test_a_hold_has_a_reason(root, path, reason):
    assert 400 == root.call("PUT", f"{path}/hold", json={"reason": reason}).status_int
    assert root.get(path).json["hold"] is None


def test_only_those_who_may_list_versions_see_a_hold_in_the_list(root, path, member):
    root.call("PUT", f"{path}/hold", json=WHY)

    assert 1 == len(member(Role.LIST_VERSIONS).get("/api/v1/holds").json["items"])
    assert 403 == member(Role.UPLOAD_VERSIONS).get("/api/v1/holds").status_int


def test_the_preview_says_that_all_is_held(root, path):
    root.call("PUT", f"{path}/hold", json=WHY)

    shown = root.post(f"{path}/retention/preview", {}).json

    assert {"held"} == {one["protection"] for one in shown["versions"]}
