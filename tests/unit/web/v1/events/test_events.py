"""Events in /api/v1: pages, filters, exports, and who sees what."""

import csv
import io
import json

import pytest
from sqlalchemy import insert

from frepo_core.db import utc_now
from frepo_core.db.models import CollectionToken, Event
from frepo_core.domain.roles import Role
from frepo_core.services.backups.collections.collections import CollectionChange

EVENTS = "/api/v1/events"


@pytest.fixture
def edited(root, create, number):
    """A collection that was created, edited and deleted."""
    collection = create()
    patch = {"Content-Type": "application/merge-patch+json"}
    root.call("PATCH", f"/api/v1/collections/{collection}", json={"description": "new"}, headers=patch)
    root.call("DELETE", f"/api/v1/collections/{collection}")
    number()
    return collection


def kinds(answer):
    assert 200 == answer.status_int, answer.json
    return [item["kind"] for item in answer.json["items"]]


def test_who_deleted_and_edited_it_and_what_was_it_before(root, services, admin, edited):
    answer = root.get(f"{EVENTS}?collection={edited}&kind=*.deleted&kind=*.edited")

    deleted, changed = answer.json["items"]
    assert ("collection.deleted", services.tokens.fingerprint(admin)) == (deleted["kind"], deleted["actor"])
    assert ("dump.sql", "new") == (deleted["data"]["before"]["filename"], deleted["data"]["before"]["description"])
    assert {"before": {"description": ""}, "after": {"description": "new"}} == changed["data"]
    assert answer.json["next"] is None


def test_the_actor_stays_when_its_token_is_revoked(root, services, holder, number):
    maker = holder(Role.CREATE_COLLECTIONS)
    collection = maker.post("/api/v1/collections", {"name": "a.sql"}).json["id"]
    fingerprint = services.tokens.fingerprint(maker.token)
    root.call("DELETE", f"/auth/token/{maker.token}")
    number()

    answer = root.get(f"{EVENTS}?actor={fingerprint}")

    assert [collection, collection] == [item["collection_id"] for item in answer.json["items"]]


def test_events_are_found_by_names_and_by_version(root, holder, services, create, number):
    collection = create()
    keeper = holder(Role.UPLOAD_VERSIONS, Role.MODIFY_ANY_COLLECTION, name="Keeper of 50%")
    keeper.call("PUT", f"/api/v1/collections/{collection}/versions", body=b"one")
    root.call("PUT", f"/api/v1/collections/{collection}/versions", body=b"two")
    number()

    def found(query):
        answer = root.get(f"{EVENTS}?kind=version.*&{query}")
        assert 200 == answer.status_int, answer.json
        return [(item["version_number"], item["actor_name"]) for item in answer.json["items"]]

    by_keeper, by_root = (1, "Keeper of 50%"), (2, None)
    for query, expected in {
        "q=DUMP.sq": [by_root, by_keeper],
        "q=keeper%20of%2050%25": [by_keeper],
        "q=k%25r": [],
        f"q={services.tokens.fingerprint(keeper.token)}": [by_keeper],
        f"collection={collection}&version=2": [by_root],
        "version=3": [],
    }.items():
        assert expected == found(query), query
    assert 400 == root.get(f"{EVENTS}?version=0").status_int


def test_pages_follow_each_other_and_a_new_event_does_not_move_them(root, create, number, services):
    for _ in range(3):
        create()
    number()
    everything = [item["position"] for item in root.get(EVENTS).json["items"]]
    found, cursor = [], ""
    while cursor is not None:
        page = root.get(f"{EVENTS}?limit=3&cursor={cursor}").json
        found += [item["position"] for item in page["items"]]
        cursor = page["next"]
        create()
        number()

    assert everything == found == sorted(found, reverse=True)
    assert len(found) > 5


def test_wrong_parameters_are_named(root):
    for query, field in [
        ("kind=versions.*", "kind"),
        ("since=yesterday", "since"),
        ("cursor=abc", "cursor"),
        ("cursor=WyIiLCJhIl0", "cursor"),
        ("limit=501", "limit"),
        ("until=2030-01-01", "until"),
    ]:
        answer = root.get(f"{EVENTS}?{query}")

        assert (400, [field]) == (answer.status_int, [one["field"] for one in answer.json["errors"]])


def test_events_since_a_time(root, edited):
    assert [] == kinds(root.get(f"{EVENTS}?since=2100-01-01"))
    assert "collection.deleted" in kinds(root.get(f"{EVENTS}?since=2020-01-01T00:00:00Z"))


class TestWhoSeesWhat:
    @pytest.fixture
    def viewer(self, holder):
        return holder(Role.VIEW_EVENTS)

    @pytest.fixture
    def seen(self, services, viewer, create, number):
        """A collection that lists the viewer's token, and one that does not; they share bytes."""
        shown, hidden = create("shown.sql"), create("hidden.sql")
        services.token_lists.allow(shown, services.tokens.key(viewer.token))
        shared = {"used_by": [{"file_id": 1, "collection_id": hidden, "version_number": 1}, {"file_id": 2}]}
        rows = [{"kind": "blob.damaged", "data": shared}, {"kind": "blob.damaged", "data": {}, "file_id": 7}]
        services.database.write(
            lambda session: session.add_all(Event(at=utc_now(), actor="system:verify", **row) for row in rows)
        )
        number()
        return shown, hidden

    def about(self, answer):
        return {item["collection_id"] for item in answer.json["items"]}

    def test_no_event_about_a_hidden_collection(self, viewer, seen):
        shown, hidden = seen

        assert {shown, None} == self.about(viewer.get(EVENTS))
        assert [] == kinds(viewer.get(f"{EVENTS}?collection={hidden}"))
        assert {shown} == self.about(viewer.get(f"{EVENTS}?kind=collection.*"))
        assert {shown} == self.about(viewer.get(f"{EVENTS}?collection={shown.upper()}"))

    def test_nor_in_an_export(self, viewer, seen):
        for ending in ["csv", "jsonl"]:
            shown, hidden = seen

            text = viewer.get(f"{EVENTS}.{ending}").text

            assert (True, False) == (shown in text, hidden in text), ending

    def test_events_about_shared_bytes_name_others_and_are_hidden(self, viewer, root, seen):
        assert 1 == len(kinds(viewer.get(f"{EVENTS}?kind=blob.*")))
        assert 2 == len(kinds(root.get(f"{EVENTS}?kind=blob.*")))

    def test_who_sees_all_collections_sees_all_events(self, holder, root, seen):
        for role in [Role.VIEW_ALL_COLLECTIONS, Role.MODIFY_ANY_COLLECTION]:
            everything = holder(Role.VIEW_EVENTS, role).get(EVENTS)

            assert {*seen, None} == self.about(everything), role

    def test_pages_of_a_viewer_follow_each_other(self, viewer, seen):
        everything = [item["position"] for item in viewer.get(EVENTS).json["items"]]
        found, cursor = [], ""
        while cursor is not None:
            page = viewer.get(f"{EVENTS}?limit=2&cursor={cursor}").json
            found += [item["position"] for item in page["items"]]
            cursor = page["next"]

        assert everything == found

    @pytest.mark.costly
    def test_a_token_on_many_lists(self, viewer, services, number):
        """More than one query for its collections."""
        change = CollectionChange(limits={}, filename="dump.sql")
        collections = [services.collections.create(change, by=None).id for _ in range(130)]
        rows = [{"collection_id": one, "token_key": services.tokens.key(viewer.token)} for one in collections]
        services.database.write(lambda session: session.execute(insert(CollectionToken), rows))
        number()

        found = viewer.get(f"{EVENTS}?kind=collection.created&limit=500")

        assert set(collections) == self.about(found)


def test_json_lines_are_the_events(root, edited):
    answer = root.get(f"{EVENTS}.jsonl?collection={edited}")

    assert "application/jsonl" == answer.content_type
    lines = [json.loads(line) for line in answer.text.splitlines()]
    page = root.get(f"{EVENTS}?collection={edited}").json["items"]
    assert [item | {"at": None} for item in page] == [line | {"at": None} for line in lines]


def test_csv_has_a_head_and_the_data_as_json(root, edited):
    answer = root.get(f"{EVENTS}.csv?collection={edited}&kind=collection.edited")

    (row,) = csv.DictReader(io.StringIO(answer.text))
    assert ("text/csv", "collection.edited", edited) == (answer.content_type, row["kind"], row["collection_id"])
    assert {"description": "new"} == json.loads(row["data"])["after"]


def test_a_text_that_a_spreadsheet_would_run_is_quoted(services, root):
    evil = Event(position=1, at=utc_now(), kind="token.revoked", actor="=cmd|'x'!A1", data={})
    services.database.write(lambda session: session.add(evil))

    (row,) = csv.DictReader(io.StringIO(root.get(f"{EVENTS}.csv?kind=token.revoked").text))

    assert "'=cmd|'x'!A1" == row["actor"]


def test_an_export_is_longer_than_a_page(services, root):
    rows = [
        Event(position=number, at=utc_now(), kind="job.failed", actor="system:verify", data={})
        for number in range(1, 1203)
    ]
    services.database.write(lambda session: session.add_all(rows))

    lines = root.get(f"{EVENTS}.jsonl?kind=job.failed").text.splitlines()

    assert list(range(1202, 0, -1)) == [json.loads(line)["position"] for line in lines]
