"""Rotation waits for a version whose verdict is pending."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, Event, Version
from frepo_core.domain.identity import Actor
from frepo_core.services.backups.versions.version_checks import NewCheck

pytestmark = pytest.mark.databases

JOB = Actor(name="system:restore_tests")
MERGE = {"Content-Type": "application/merge-patch+json"}


@pytest.fixture
def kinds(services):
    """Return the kinds of the events about a version."""

    def kinds(number):
        query = select(Event.kind).where(Event.version_number == number).order_by(Event.position, Event.id)
        with services.database.reading() as session:
            return [kind for kind in session.scalars(query) if kind.startswith("version.")]

    return kinds


@pytest.fixture
def counters(services):
    """Return how many versions a collection counts, and how many are in quarantine and pending; with their sizes."""

    def counters(collection):
        with services.database.reading() as session:
            row = session.get(Collection, collection)
            sizes = (row.stored_size, row.quarantined_size, row.pending_size)
            return (row.versions_count, row.quarantined_count, row.pending_count), sizes

    return counters


def test_it_is_listed_and_latest_and_evicts_nothing(root, make, push, versions, named, shown, counters):
    collection = make(2)
    push(collection, "good", "good", "pending", "pending")

    assert {1: "whole", 2: "whole", 3: "pending", 4: "pending"} == versions(collection)
    assert (4, 2) == (named(collection, "latest"), named(collection, "good"))
    assert (2, 0, 2) == counters(collection)[0]
    found = shown(collection)
    assert (4, 2) == (found["versions"], found["pending_versions"])
    assert 4 == root.get(f"/repository/collection/{collection}").json["collection"]["versions_count"]


def test_of_too_many_the_oldest_goes_to_the_trash_and_never_a_good_one(make, push, versions, services):
    collection = make(2)
    push(collection, "good", "good", *["pending"] * 5)

    assert {1: "whole", 2: "whole", 6: "pending", 7: "pending"} == versions(collection)
    assert {"unjudged_surplus"} == {entry.reason for entry in services.trash.list(collection)}


def test_many_at_once_stay_while_limits_have_room(make, push, versions, judge, services, counters):
    collection = make(4)
    push(collection, *["pending"] * 6)

    assert dict.fromkeys(range(1, 7), "pending") == versions(collection)
    assert (4, 0, 2) == counters(collection)[0]
    judge(collection, 1, "broken")
    judge(collection, 2, "good")
    push(collection, "pending")

    assert [3, 4, 6, 7] == [number for number, word in versions(collection).items() if word == "pending"]
    assert [5] == [entry.number for entry in services.trash.list(collection)]


def test_too_young_ones_do_not_escape_the_limits(root, make, versions, counters):
    collection = make(3)
    change = {"guards": {"min_retention": "P7D"}}
    root.call("PATCH", f"/api/v1/collections/{collection}", json=change, headers=MERGE)

    answers = [root.push(collection, f"pending {number}".encode(), expect_errors=True) for number in range(9)]

    assert [200] * 5 + [400] * 4 == [answer.status_int for answer in answers]
    assert (3, 0, 2) == counters(collection)[0]


def test_a_good_verdict_rotates(make, push, versions, judge, counters, kinds):
    collection = make(2)
    push(collection, "good", "good", "pending")

    assert judge(collection, 3, "good", covers="content")

    assert {2: "whole", 3: "complete"} == versions(collection)
    assert ((2, 0, 0), (15, 0, 0)) == counters(collection)
    assert "version.evicted" == kinds(1)[-1]


def test_a_broken_one_goes_into_quarantine_and_the_night_failed(make, push, versions, judge, counters, shown, named):
    collection = make(2)
    push(collection, "good", "good", "pending")

    judge(collection, 3, "broken", "cut off")

    assert {1: "whole", 2: "whole", 3: "(broken)"} == versions(collection)
    assert (2, 1, 0) == counters(collection)[0]
    assert ("failed", "cut off") == (shown(collection)["state"], shown(collection)["state_reason"])
    assert (2, 2) == (named(collection, "latest"), named(collection, "good"))


def test_its_deadline_is_that_of_the_newest_good_one_again(root, make, push, judge, services, shown):
    collection = make(3)
    root.call(
        "PATCH",
        f"/api/v1/collections/{collection}",
        json={"expected_every": "P1D"},
        headers={"Content-Type": "application/merge-patch+json"},
    )
    push(collection, "good")
    yesterday = utc_now() - timedelta(days=2)
    services.database.execute(update(Version).values(created_at=yesterday))
    push(collection, "pending")
    met = shown(collection)
    judge(collection, 2, "broken")

    assert "ok" == met["state"] and met["due_at"] > utc_now().isoformat()
    assert "overdue" == shown(collection)["state"]
    assert (yesterday + timedelta(days=1)).isoformat()[:16] == shown(collection)["due_at"][:16]


def test_one_older_than_what_could_make_room_goes_to_the_trash_itself(make, push, versions, judge, services):
    collection = make(1)
    push(collection, "pending", "good")

    judge(collection, 1, "good")

    assert {2: "whole"} == versions(collection)
    assert [(1, "evicted")] == [(entry.number, entry.reason) for entry in services.trash.list(collection)]


def test_if_the_strategy_refuses_it_the_collection_is_full(root, make, push, versions, judge, shown):
    collection = make(2)
    push(collection, "pending", "good", "good")
    for number in (2, 3):
        root.call(
            "PATCH",
            f"/api/v1/collections/{collection}/versions/v{number}",
            json={"note": "kept"},
            headers={"Content-Type": "application/merge-patch+json"},
        )
    change = {"strategy": "keep", "strategy_options": {"last": 2, "on_full": "refuse"}}
    root.call(
        "PATCH",
        f"/api/v1/collections/{collection}",
        json=change,
        headers={"Content-Type": "application/merge-patch+json"},
    )

    judge(collection, 1, "good")

    assert {2, 3} <= set(versions(collection))


def test_a_pinned_one_that_is_broken_stays_and_is_not_latest(root, make, push, versions, judge, counters, named):
    collection = make(3)
    push(collection, "good", "pending")
    root.call("PATCH", f"/api/v1/collections/{collection}/versions/v2", json={"pinned": True}, headers=MERGE)

    judge(collection, 2, "broken")

    assert {1: "whole", 2: "broken"} == versions(collection)
    assert 1 == named(collection, "latest")
    assert (2, 0, 0) == counters(collection)[0]


def test_a_person_can_release_it(root, make, push, versions, counters):
    collection = make(1)
    push(collection, "good", "pending")
    merge = {"Content-Type": "application/merge-patch+json"}

    answer = root.call(
        "PATCH", f"/api/v1/collections/{collection}/versions/v2", json={"quarantined": False}, headers=merge
    )

    assert ("unchecked", False) == (answer.json["verdict"], answer.json["pending"])
    assert {2: "unchecked"} == versions(collection)
    assert (1, 0, 0) == counters(collection)[0]


def test_three_attempts_in_vain_make_it_suspicious_and_rotation_goes_on(make, push, versions, judge, named):
    collection = make(1)
    push(collection, "good", "pending")
    for _ in range(2):
        judge(collection, 2, "pending", "no time")
        assert {1: "whole", 2: "pending"} == versions(collection)

    judge(collection, 2, "pending", "no time")

    assert {1: "whole", 2: "suspicious"} == versions(collection)
    assert (2, 1) == (named(collection, "latest"), named(collection, "good"))


def test_when_patience_is_over_rotation_goes_on_without_a_verdict(make, push, versions, services, counters, kinds):
    collection = make(1)
    push(collection, "good", "pending")
    past = utc_now() - timedelta(days=2)
    services.database.execute(update(Version).where(Version.number == 2).values(pending_since=past))

    assert {"rotated": 1} == services.jobs.run("unjudged", cause="console").summary

    # Nobody knows whether it is good: the newest good one stays.
    assert {1: "whole", 2: "pending"} == versions(collection)
    assert (2, 0, 0) == counters(collection)[0]
    assert "version.unjudged" in kinds(2)
    push(collection, "good")
    assert {3: "whole"} == versions(collection)


def test_it_does_not_give_way_to_a_newer_one_that_is_condemned(make, push, versions, judge, services, counters):
    collection = make(1)
    push(collection, "pending", "good")
    condemned = NewCheck(name="restore", outcome="broken", message="it is cut")
    services.late_results.record(services.versions.find(collection, "v2").id, condemned, by=JOB)

    judge(collection, 1, "good")

    assert {1: "whole"} == versions(collection)
    assert (1, 0, 0) == counters(collection)[0]


def test_a_pinned_one_stays_also_if_only_newer_ones_could_make_room(root, make, push, versions, judge, counters):
    collection = make(2)
    push(collection, "pending", "good", "good")
    root.call("PATCH", f"/api/v1/collections/{collection}/versions/v1", json={"pinned": True}, headers=MERGE)

    judge(collection, 1, "good")

    assert {1: "whole", 2: "whole", 3: "whole"} == versions(collection)
    assert (3, 0, 0) == counters(collection)[0]
    push(collection, "good")
    assert {1: "whole", 4: "whole"} == versions(collection)


def test_the_newest_good_one_is_not_evicted_for_the_release_of_an_older_one(
    root, make, push, versions, named, services
):
    """The newest version of all is no reason: it waited for its verdict in vain."""
    collection = make(2)
    push(collection, "broken", "good", "pending")
    services.unjudged_versions.end_waiting(now=utc_now() + timedelta(days=2), by=JOB, keep_going=lambda: None)
    url = f"/api/v1/collections/{collection}/versions"

    refused = root.call("PATCH", f"{url}/v1", json={"quarantined": False}, headers=MERGE)

    assert (400, {1: "(broken)", 2: "whole", 3: "pending"}) == (refused.status_int, versions(collection))
    root.call("DELETE", f"{url}/v3")
    root.call("PATCH", f"{url}/v1", json={"quarantined": False}, headers=MERGE)
    assert {1: "unchecked", 2: "whole"} == versions(collection)
    assert 2 == named(collection, "good")
