"""Expected backups and states of collections, the overview, and the history in /api/v1."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert

from frepo_core.db import utc_now
from frepo_core.db.models import Sample
from frepo_core.domain.roles import Role
from frepo_core.features.restore_tests.feature import RestoreTestServices

COLLECTIONS = "/api/v1/collections"
NOW = datetime(2026, 5, 31, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def create(root):
    return lambda name="dump.sql.gz", **more: root.post(COLLECTIONS, {"name": name, **more})


@pytest.fixture
def add_samples(services):
    def add(*rows):
        counts = {"versions": 1, "blobs": 1, "sent": None, "uploads": None, "refusals": None, "collection_id": None}
        services.database.write(lambda session: session.execute(insert(Sample), [counts | row for row in rows]))

    return add


def patch(client, path, **body):
    return client.call("PATCH", path, json=body, headers={"Content-Type": "application/merge-patch+json"})


def moment(text):
    return datetime.fromisoformat(text)


class TestExpectedBackups:
    def test_they_are_set_shown_and_reset(self, create, root):
        made = create(expected_every="1d", grace="2h", labels=["db", "db ", "warsaw"]).json
        path = f"{COLLECTIONS}/{made['id']}"
        assert ("P1D", "PT2H", ["db", "warsaw"]) == (made["expected_every"], made["grace"], made["labels"])
        assert DAY == moment(made["due_at"]) - moment(made["created_at"])
        assert timedelta(hours=2) == moment(made["overdue_at"]) - moment(made["due_at"])

        cron = patch(root, path, expected_every="0 2 * * * Europe/Warsaw", grace=None).json
        assert ("0 2 * * * Europe/Warsaw", None, ["db", "warsaw"]) == (
            cron["expected_every"],
            cron["grace"],
            cron["labels"],
        )
        assert timedelta(minutes=144) == moment(cron["overdue_at"]) - moment(cron["due_at"])

        none = patch(root, path, expected_every=None, labels=[]).json
        assert (None, None, None, []) == (
            none["expected_every"],
            none["due_at"],
            none["overdue_at"],
            none["labels"],
        )

    def test_all_wrong_values_are_named(self, create):
        answer = create(expected_every="daily", grace="P400D", labels=["x" * 65], name="")

        assert 400 == answer.status_int
        assert {"expected_every", "grace", "labels", "name"} == {one["field"] for one in answer.json["errors"]}

    def test_the_etag_follows_them_and_no_arrival(self, create, root):
        made = create(expected_every="1d")
        path = f"{COLLECTIONS}/{made.json['id']}"
        root.push(made.json["id"], b"dump")
        assert made.headers["ETag"] == root.get(path).headers["ETag"]

        assert made.headers["ETag"] != patch(root, path, labels=["db"]).headers["ETag"]

    def test_answers_of_the_first_api_do_not_show_them(self, create, root):
        made = create(expected_every="1d", labels=["db"]).json

        shown = root.get(f"/repository/collection/{made['id']}").json["collection"]

        assert not {"expected_every", "grace", "labels", "state", "created_by"} & shown.keys()


@pytest.mark.databases
class TestStates:
    def test_pages_of_these_orders_have_each_collection_once(self, create, root, set_row):
        made = [create(f"{number}").json["id"] for number in range(7)]
        set_row(made[3], full_since=utc_now(), arrived_at=utc_now() - DAY)
        set_row(made[5], arrived_at=utc_now())

        for order in ["state", "-state", "last_version_at", "-last_version_at"]:
            found, cursor = [], ""
            while cursor is not None:
                page = root.get(f"{COLLECTIONS}?limit=2&sort={order}&cursor={cursor}").json
                found += [item["id"] for item in page["items"]]
                cursor = page["next"]

            assert 7 == len(found)
            assert set(made) == set(found), order

    def test_an_unknown_state_is_refused(self, root):
        assert 400 == root.get(f"{COLLECTIONS}?state=broken").status_int


class TestOverview:
    def test_it_has_figures_of_the_service(self, create, root, holder):
        collection = create(expected_every="1d").json["id"]
        root.push(collection, b"12345")
        create()

        shown = holder(Role.VIEW_METRICS).get("/api/v1/overview").json

        none = dict.fromkeys(("damaged", "overdue", "failed", "full", "problem", "suspicious", "late"), 0)
        assert {**none, "new": 1, "ok": 1, "total": 2, "in_trouble": 0} == shown["collections"]
        assert (5, 5, 1) == tuple(shown["size"][name] for name in ("sent", "stored", "blobs"))
        assert {"uploads": 1, "refusals": 0} == shown["last_24_hours"] == shown["last_30_days"]
        assert shown["free_space"] > 0
        assert (1, "local", None, None, 0, []) == tuple(
            shown[name]
            for name in ("versions", "storage", "growth_per_day", "full_on", "damaged_blobs", "failing_jobs")
        )
        assert (1, []) == (shown["never_restore_tested"], shown["problems"])
        assert {"good": 1, "pending": 0, "suspicious": 0, "broken": 0} == shown["verdicts"]
        assert shown["restore_tests"] == {
            **dict.fromkeys(("good", "broken", "not_checked", "untested"), 0),
            "never": 1,
            "every": "P30D",
            "longest_untested": [],
        }

    @pytest.mark.costly
    @pytest.mark.databases
    def test_collections_that_get_the_same_content_are_counted_named_and_found(self, create, root, holder, set_row):
        for name, nights in (("new.sql", 6), ("week.sql", 7), ("old.sql", 19)):
            set_row(create(name).json["id"], baseline={"unchanged_nights": nights})
        create("empty.sql")

        shown = root.get("/api/v1/overview").json["unchanged"]
        hidden = holder(Role.VIEW_METRICS).get("/api/v1/overview").json["unchanged"]

        assert (7, 2) == (shown["nights"], shown["number"])
        assert [("old.sql", 19), ("week.sql", 7)] == [
            (one["name"], one["unchanged_nights"]) for one in shown["longest"]
        ]
        assert (2, []) == (hidden["number"], hidden["longest"])
        found = root.get(f"{COLLECTIONS}?unchanged_nights=8").json["items"]
        assert ["old.sql"] == [one["name"] for one in found]
        assert 4 == len(root.get(f"{COLLECTIONS}?unchanged_nights=0").json["items"])

    def test_it_names_the_collections_with_a_problem_that_the_token_may_see(self, create, root, holder, set_row):
        collection = create("shop.sql.gz").json["id"]
        set_row(collection, failed_since=utc_now(), failed_reason="The dump was cut")
        late = create("late.sql", expected_every="1d").json["id"]
        set_row(late, due_at=utc_now() - DAY, overdue_at=utc_now() + DAY)

        shown = root.get("/api/v1/overview").json

        assert (1, 1) == (shown["collections"]["failed"], shown["collections"]["late"])
        problems = [(one["id"], one["name"], one["state"]) for one in shown["problems"]]
        assert [(collection, "shop.sql.gz", "failed"), (late, "late.sql", "late")] == problems
        assert "The dump was cut" == shown["problems"][0]["reason"]
        assert [] == holder(Role.VIEW_METRICS).get("/api/v1/overview").json["problems"]

    def test_collections_without_a_good_restore_test_for_too_long_are_named(
        self, create, root, holder, set_row, services
    ):
        """The tests begin and end by the door of operators, the command."""
        now = utc_now()
        old, recent, failed = (create(name).json["id"] for name in ("old.sql", "recent.sql", "failed.sql"))
        for collection in (old, recent, failed):
            root.push(collection, b"content")
        for collection, command in ((recent, "cat"), (old, "cat"), (failed, "sh -c 'cat; exit 1'")):
            services.feature(RestoreTestServices).tests.run(
                services.collections.get(collection), command=command, by=None
            )
        set_row(old, restore_tested_at=now - 41 * DAY, restore_tried_at=now - 41 * DAY)

        shown = root.get("/api/v1/overview").json["restore_tests"]

        at = root.get(f"{COLLECTIONS}/{old}").json["restore_tested_at"]
        assert (2, 1, 0, 0, 1) == tuple(shown[name] for name in ("good", "broken", "not_checked", "never", "untested"))
        assert [{"id": old, "name": "old.sql", "restore_tested_at": at}] == shown["longest_untested"]
        assert [] == holder(Role.VIEW_METRICS).get("/api/v1/overview").json["restore_tests"]["longest_untested"]
        (listed,) = [one for one in root.get(COLLECTIONS).json["items"] if one["id"] == failed]
        assert ("broken", None, True) == (
            listed["restore_outcome"],
            listed["restore_tested_at"],
            listed["restore_tried_at"] is not None,
        )


class TestHistory:
    def test_the_service_has_samples_in_pages(self, root, add_samples):
        add_samples(*({"at": NOW - days * DAY, "size": days, "sent": 9} for days in (3, 2, 1)))

        first = root.get("/api/v1/history?limit=2").json
        second = root.get(f"/api/v1/history?limit=2&cursor={first['next']}").json

        assert [3, 2] == [one["size"] for one in first["items"]]
        assert second == {
            "items": [
                {
                    "at": "2026-05-30T12:00:00Z",
                    "versions": 1,
                    "size": 1,
                    "blobs": 1,
                    "sent": 9,
                    "uploads": None,
                    "refusals": None,
                }
            ],
            "next": None,
        }
        since = root.get("/api/v1/history?since=2026-05-29").json["items"]
        assert [2, 1] == [one["size"] for one in since]

    def test_a_collection_has_samples_of_its_own(self, create, root, holder, add_samples, set_row):
        mine, other = create().json["id"], create().json["id"]
        set_row(mine, created_at=NOW - DAY)
        add_samples(
            *({"at": NOW, "size": size, "collection_id": one} for size, one in ((1, mine), (2, other), (3, None)))
        )

        assert [1] == [one["size"] for one in root.get(f"{COLLECTIONS}/{mine}/history").json["items"]]
        assert 403 == holder(Role.VIEW_METRICS).get(f"{COLLECTIONS}/{mine}/history").status_int
        assert 404 == root.get(f"{COLLECTIONS}/8c0ad0a9-6a5b-4f59-b48c-7b1b9d1ab5d9/history").status_int

    def test_several_collections_are_answered_at_once(self, create, root, holder, add_samples, set_row):
        first, second, third = sorted(create().json["id"] for _ in range(3))
        lister = holder(Role.LIST_COLLECTIONS, Role.CREATE_COLLECTIONS)
        own = lister.post(COLLECTIONS, {"name": "own"}).json["id"]
        now = utc_now()
        for one in (first, third):
            set_row(one, created_at=now - 40 * DAY)
        add_samples(*({"at": now - days * DAY, "size": days, "collection_id": first} for days in (1, 31, 2)))
        add_samples({"at": now - DAY, "size": 7, "collection_id": third})
        query = {"collection": [third, first.upper(), second, own]}

        shown = root.get("/api/v1/history/collections", query).json["items"]

        sizes = {one["id"]: [day["size"] for day in one["sizes"]] for one in shown}
        assert {first: [2, 1], second: [], third: [7], own: []} == sizes
        assert [own] == [one["id"] for one in lister.get("/api/v1/history/collections", query).json["items"]]
        assert 400 == root.get("/api/v1/history/collections").status_int
        assert 403 == holder(Role.VIEW_METRICS).get("/api/v1/history/collections", query).status_int

    def test_no_samples_of_an_earlier_collection_of_the_same_id(self, create, root, add_samples):
        collection = create().json["id"]
        add_samples({"at": utc_now() - DAY, "size": 1, "collection_id": collection})

        several = root.get("/api/v1/history/collections", {"collection": collection}).json["items"]

        assert [] == root.get(f"{COLLECTIONS}/{collection}/history").json["items"]
        assert [{"id": collection, "sizes": []}] == several
