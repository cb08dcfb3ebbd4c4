"""How long what leaves a collection stays in the trash, if that is shorter than in the service."""

from datetime import datetime, timedelta

import pytest

from frepo_core.domain.roles import Role

COLLECTIONS = "/api/v1/collections"


@pytest.fixture
def path(root, collection):
    """The path of a collection with versions 1 to 3."""
    path = f"{COLLECTIONS}/{collection}"
    for content in (b"one", b"two", b"three"):
        assert 201 == root.call("PUT", f"{path}/versions", body=content).status_int
    return path


def patch(client, path, body):
    headers = {"Content-Type": "application/merge-patch+json"}
    return client.call("PATCH", path, json=body, headers=headers)


def kept(entry):
    """For how long an entry of the trash is kept."""
    return datetime.fromisoformat(entry["ends_at"]) - datetime.fromisoformat(entry["evicted_at"])


def test_what_leaves_a_collection_stays_for_its_time(root, path):
    root.delete(f"{path}/versions/v1")

    assert "P1D" == patch(root, path, {"trash_keep": "P1D"}).json["trash_keep"] == root.get(path).json["trash_keep"]
    root.delete(f"{path}/versions/v2")
    assert patch(root, path, {"trash_keep": None}).json["trash_keep"] is None
    root.delete(f"{path}/versions/v3")

    found = {one["number"]: kept(one) for one in root.get(f"{path}/trash").json["items"]}
    assert {1: timedelta(days=7), 2: timedelta(days=1), 3: timedelta(days=7)} == found


def test_so_does_what_is_evicted(root, path):
    patch(root, path, {"trash_keep": "PT2H", "limits": {"versions": 3}})

    root.call("PUT", f"{path}/versions", body=b"four")

    [entry] = root.get(f"{path}/trash").json["items"]
    assert (1, timedelta(hours=2)) == (entry["number"], kept(entry))


def test_a_deleted_collection_stays_as_long_as_the_service_says(root, path):
    patch(root, path, {"trash_keep": "P1D"})

    root.delete(f"{path}?versions=trash")

    [deleted] = root.get("/api/v1/deleted-collections").json["items"]
    assert 200 <= root.post(f"/api/v1/deleted-collections/{deleted['id']}/restore", None).status_int < 300
    assert "P1D" == root.get(path).json["trash_keep"]
    assert [3, 2, 1] == [one["number"] for one in root.get(f"{path}/versions").json["items"]]


@pytest.mark.parametrize(
    ("value", "words"), [("P8D", "at most 1w"), ("PT59M", "less than 1 hour"), ("PT0S", "less than 1 hour")]
)
def test_it_is_never_longer_than_in_the_service(root, path, value, words):
    edited = patch(root, path, {"trash_keep": value})
    made = root.post(COLLECTIONS, {"name": "a", "trash_keep": value})

    for refused in (edited, made):
        assert (400, True) == (refused.status_int, words in refused.text and "trash_keep" in refused.text)
    assert root.get(path).json["trash_keep"] is None


def test_it_needs_the_roles_that_end_the_trash(path, member):
    editor = member(Role.MODIFY_COLLECTIONS)

    refused = patch(editor, path, {"trash_keep": "P1D"})

    assert (403, True) == (refused.status_int, Role.DELETE_VERSIONS.value in refused.text)
    assert 200 == patch(editor, path, {"trash_keep": None, "description": "shop"}).status_int
    may = member(Role.MODIFY_COLLECTIONS, Role.DELETE_VERSIONS, Role.RESTORE_FROM_TRASH)
    assert "P1D" == patch(may, path, {"trash_keep": "P1D"}).json["trash_keep"]
