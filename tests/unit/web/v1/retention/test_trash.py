"""The trash in /api/v1: lists, restoring and ending, deleted collections, and who may do what."""

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event
from frepo_core.domain.roles import Role
from support.client import with_settings

V1 = "/api/v1"
COLLECTIONS, DELETED = f"{V1}/collections", f"{V1}/deleted-collections"


@pytest.fixture
def path(root, collection):
    """The path of a collection with versions 2 and 3; version 1 was deleted."""
    path = f"{COLLECTIONS}/{collection}"
    for content in (b"one", b"two", b"three"):
        assert 201 == root.call("PUT", f"{path}/versions", body=content).status_int
    assert 204 == root.delete(f"{path}/versions/v1").status_int
    return path


def numbers(root, path):
    return [one["number"] for one in root.get(f"{path}/versions").json["items"]]


def test_the_trash_lists_what_can_be_restored(root, path, services):
    root.delete(f"{path}/versions/v2")

    items = root.get(f"{path}/trash").json["items"]

    assert [2, 1] == [item["number"] for item in items]
    assert items[1].items() >= {"size": 3, "reason": "deleted", "verdict": "unchecked", "damaged": False}.items()
    assert items[1]["evicted_by"] == services.tokens.fingerprint(root.token)
    assert items[1]["evicted_by_name"] is None
    assert items[1] == root.get(f"{path}/trash/1").json
    assert [1] == [item["number"] for item in root.get(f"{path}/trash", {"sort": "number", "limit": 1}).json["items"]]


def test_the_collection_and_the_overview_tell_its_size(root, path):
    assert (8, 3) == tuple(root.get(path).json[name] for name in ("stored_size", "trash_size"))
    assert [3] == [item["trash_size"] for item in root.get(COLLECTIONS).json["items"]]
    sizes = root.get(f"{V1}/overview").json["size"]
    assert {"sent": 11, "stored": 11, "blobs": 3, "trash": 3}.items() <= sizes.items()


def test_a_restored_version_is_at_its_place(root, path):
    answer = root.post(f"{path}/trash/1/restore", None)

    assert (201, f"http://localhost:80{path}/versions/v1") == (answer.status_int, answer.headers["Location"])
    assert (1, "one") == (answer.json["number"], root.get(f"{path}/versions/v1/content").text)
    assert [3, 2, 1] == numbers(root, path)
    assert [] == root.get(f"{path}/trash").json["items"]
    assert 404 == root.post(f"{path}/trash/1/restore", None).status_int


def test_one_without_room_is_a_conflict(root, path):
    root.call("PATCH", path, json={"limits": {"versions": 2}})

    answer = root.post(f"{path}/trash/1/restore", None)

    assert (409, 4021) == (answer.status_int, answer.json["code"])
    assert "2 versions of 2" in answer.json["detail"]


def limits_and_events(root, path, services):
    """The limits of the collection, and how often it was edited and a version restored."""
    with services.database.reading() as session:
        kinds = session.scalars(select(Event.kind)).all()
    return root.get(path).json["limits"], kinds.count("collection.edited"), kinds.count("version.restored")


def test_the_limits_are_raised_and_a_version_is_restored_or_neither(root, path, services):
    for limits in ({"versions": 2, "version_size": 9}, {"total_size": 9}):
        assert 200 == root.call("PATCH", path, json={"limits": limits}).status_int
    old, edited, restored = before = limits_and_events(root, path, services)
    restore = f"{path}/trash/1/restore"
    # One of the two limits would still be too low, one would be lower than now, and one is above that of the service.
    for wrong, status in [
        ({"versions": 3}, 409),
        ({"versions": 3, "version_size": 8}, 400),
        ({"total_size": 10**12}, 400),
    ]:
        refused = root.post(restore, {"limits": wrong})

        assert (status, before) == (refused.status_int, limits_and_events(root, path, services)), wrong
    answer = root.post(restore, {"limits": {"versions": 3, "total_size": 16}})

    assert (201, [3, 2, 1]) == (answer.status_int, numbers(root, path))
    after = old | {"versions": 3, "total_size": 16}
    assert (after, edited + 1, restored + 1) == limits_and_events(root, path, services)


def test_who_may_only_restore_raises_no_limit(root, path, holder, collection):
    root.call("PATCH", path, json={"limits": {"versions": 2}})
    client = holder(Role.RESTORE_FROM_TRASH)
    root.post(f"/repository/collection/{collection}/token", {"token": client.token})

    refused = client.post(f"{path}/trash/1/restore", {"limits": {"versions": 3}})

    assert (403, 2) == (refused.status_int, root.get(path).json["limits"]["versions"])
    assert 409 == client.post(f"{path}/trash/1/restore", None).status_int


def test_an_unknown_number_is_not_found(root, path):
    for number in ["7", "0", "9" * 30]:
        for method, where in (("GET", ""), ("DELETE", ""), ("POST", "/restore")):
            assert 404 == root.call(method, f"{path}/trash/{number}{where}").status_int


def test_one_entry_or_all_can_be_ended(root, path):
    root.delete(f"{path}/versions/v2")

    assert 204 == root.delete(f"{path}/trash/2").status_int
    assert [1] == [item["number"] for item in root.get(f"{path}/trash").json["items"]]
    assert 204 == root.delete(f"{path}/trash").status_int
    assert [] == root.get(f"{path}/trash").json["items"]


@pytest.mark.parametrize(
    ("roles", "reads", "ends"),
    [
        ((), 403, 403),
        ((Role.DELETE_VERSIONS, Role.LIST_VERSIONS, Role.UPLOAD_VERSIONS), 403, 403),
        ((Role.RESTORE_FROM_TRASH,), 200, 403),
        ((Role.RESTORE_FROM_TRASH, Role.DELETE_VERSIONS), 200, 204),
    ],
)
def test_only_who_may_delete_and_restore_ends_what_is_in_the_trash(root, path, holder, collection, roles, reads, ends):
    client = holder(*roles)
    stranger = client.get(f"{path}/trash").status_int
    root.post(f"/repository/collection/{collection}/token", {"token": client.token})

    assert 403 == stranger
    assert reads == client.get(f"{path}/trash").status_int
    assert {200: 201}.get(reads, reads) == client.post(f"{path}/trash/1/restore", None).status_int
    root.delete(f"{path}/versions/v2")
    assert ends == client.delete(f"{path}/trash/2").status_int
    assert ends == client.delete(f"{path}/trash").status_int


def test_a_collection_is_deleted_with_its_versions_and_restored(root, path, collection):
    assert (409, 4005) == ((refused := root.delete(path)).status_int, refused.json["code"])
    before = root.get(path).json
    assert 204 == root.delete(path, {"versions": "trash"}).status_int
    assert 404 == root.get(path).status_int

    (item,) = root.get(DELETED).json["items"]
    answer = root.post(f"{DELETED}/{collection}/restore", None)

    assert (collection, 2, 8) == (item["id"], item["versions"], item["size"])
    assert (201, f"http://localhost:80{path}") == (answer.status_int, answer.headers["Location"])
    assert before | {"trash_size": 3} == answer.json == root.get(path).json
    assert [3, 2] == numbers(root, path)
    assert [] == root.get(DELETED).json["items"]


def test_a_suspicious_version_comes_back_with_its_collection_as_such(root, path, collection):
    root.call("PATCH", path, json={"guards": {"min_version_size": 4, "on_suspicious": "mark"}})
    root.call("PUT", f"{path}/versions", body=b"cut")
    root.delete(path, {"versions": "trash"})

    root.post(f"{DELETED}/{collection}/restore", None)

    items = root.get(f"{path}/versions").json["items"]
    assert {4: True, 3: False, 2: False} == {one["number"]: one["suspicious"] for one in items}


def test_a_deleted_collection_can_be_ended(root, path, collection):
    root.delete(path, {"versions": "trash"})

    assert 204 == root.delete(f"{DELETED}/{collection}").status_int
    assert [] == root.get(DELETED).json["items"]
    assert 404 == root.post(f"{DELETED}/{collection}/restore", None).status_int


def test_the_old_api_deletes_only_empty_collections(root, path, collection):
    assert 400 == root.delete(f"/repository/collection/{collection}", {"versions": "trash"}).status_int


class TestContents:
    """What is in the trash is read without being restored."""

    def test_it_is_sent_whole_and_in_ranges_and_stays_in_the_trash(self, root, path):
        whole = root.get(f"{path}/trash/1/content")
        part = root.get(f"{path}/trash/1/content", headers={"Range": "bytes=1-"})

        assert (200, b"one") == (whole.status_int, whole.body)
        assert (206, b"ne") == (part.status_int, part.body)
        assert whole.headers["Repr-Digest"].startswith("sha-256=:")
        assert "attachment" in whole.headers["Content-Disposition"] or "inline" in whole.headers["Content-Disposition"]
        assert "private, no-store" == whole.headers["Cache-Control"]
        assert [1] == [one["number"] for one in root.get(f"{path}/trash").json["items"]]
        assert 404 == root.get(f"{path}/trash/2/content").status_int
        assert 404 == root.get(f"{path}/versions/v1/content").status_int

    def test_words_and_dates_never_reach_into_the_trash(self, root, path):
        for number in (2, 3):
            root.delete(f"{path}/versions/v{number}")

        for name in ("latest", "good", "first", "2099-01-01"):
            assert 404 == root.get(f"{path}/versions/{name}/content").status_int, name

    def test_it_needs_the_role_for_the_trash_and_the_one_for_versions(self, path, member):
        for roles, expected in (
            ((Role.RESTORE_FROM_TRASH,), 403),
            ((Role.LIST_VERSIONS,), 403),
            ((Role.RESTORE_FROM_TRASH, Role.LIST_VERSIONS), 200),
        ):
            assert expected == member(*roles).get(f"{path}/trash/1/content").status_int, roles

    def test_the_password_of_the_version_is_asked_for(self, root, holder):
        collection = root.create(password="p-5ecre7-Word1").json["collection"]["id"]
        path, reader = f"{COLLECTIONS}/{collection}", holder(Role.RESTORE_FROM_TRASH, Role.LIST_VERSIONS)
        root.post(f"/repository/collection/{collection}/token", {"token": reader.token})
        root.call("PUT", f"{path}/versions", body=b"one")
        root.delete(f"{path}/versions/v1")

        def status(**headers):
            return reader.get(f"{path}/trash/1/content", headers=headers).status_int

        assert (403, 403) == (status(), status(**{"X-File-Password": "wr0ng-5ecre7"}))
        assert 200 == status(**{"X-File-Password": "p-5ecre7-Word1"})

    def test_a_version_of_a_deleted_collection_is_sent(self, root, path, member, collection):
        reader, restorer = member(Role.RESTORE_FROM_TRASH, Role.LIST_VERSIONS), member(Role.RESTORE_FROM_TRASH)
        root.delete(path, {"versions": "trash"})
        (deleted,) = root.get(DELETED).json["items"]

        for name in (deleted["incarnation"], collection):
            assert b"three" == reader.get(f"{DELETED}/{name}/trash/3/content").body
            assert 403 == restorer.get(f"{DELETED}/{name}/trash/3/content").status_int
        assert 404 == reader.get(f"{DELETED}/{deleted['incarnation']}/trash/9/content").status_int
        assert [deleted] == root.get(DELETED).json["items"]

    @with_settings(events__downloads="true")
    def test_the_download_is_an_event(self, root, path, services):
        root.get(f"{path}/trash/1/content")

        with services.database.reading() as session:
            (event,) = session.scalars(select(Event).where(Event.kind == "version.downloaded")).all()
        assert (1, True) == (event.version_number, event.data["in_trash"])
