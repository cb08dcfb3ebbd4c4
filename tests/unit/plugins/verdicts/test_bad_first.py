"""If room is needed, versions that were condemned leave before any good one, whatever the strategy chooses."""

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event
from frepo_core.domain.identity import Actor
from frepo_core.services.backups.versions.version_checks import NewCheck

from .conftest import V1

JOB = Actor(name="system:restore_tests")
MERGE = {"Content-Type": "application/merge-patch+json"}


@pytest.fixture
def denounce(services):
    """Let a check of the service find versions broken, or odd, that were accepted."""

    def denounce(collection, *numbers, name="other", outcome="broken"):
        for number in numbers:
            version = services.versions.find(collection, f"v{number}")
            services.late_results.record(version.id, NewCheck(name=name, outcome=outcome, message="half"), by=JOB)

    return denounce


@pytest.mark.databases
@pytest.mark.parametrize("outcome", ["broken", "suspicious"])
def test_nights_that_are_denounced_later_never_push_out_the_good_history(
    root, make, push, versions, services, denounce, outcome
):
    collection = make(5)
    push(collection, "good", "good", "good", "good")

    for night in range(5, 13):
        push(collection, "good")
        denounce(collection, night, outcome=outcome)

    assert {1: "whole", 2: "whole", 3: "whole", 4: "whole", 12: outcome} == versions(collection)
    trash = root.get(f"{V1}/{collection}/trash").json["items"]
    assert dict.fromkeys(range(5, 12), "evicted") == {one["number"]: one["reason"] for one in trash}
    with services.database.reading() as session:
        told = session.scalars(select(Event.data).where(Event.kind == "version.evicted")).all()
    assert [outcome] * 7 == [data["verdict"] for data in told]


def test_only_as_many_leave_as_room_is_needed(make, push, versions, denounce):
    collection = make(5)
    push(collection, *["good"] * 5)
    denounce(collection, 3, 4)

    push(collection, "good")

    assert {1: "whole", 2: "whole", 4: "broken", 5: "whole", 6: "whole"} == versions(collection)


def test_good_ones_leave_when_no_bad_one_is_left(make, push, versions, denounce):
    collection = make(0, maxCollectionSize="21b", maxOneVersionSize="20b")
    push(collection, "good", "good", "good")  # of 6 bytes
    denounce(collection, 3)

    push(collection, "complete")  # of 10 bytes

    assert {2: "whole", 4: "complete"} == versions(collection)


def test_pinned_and_young_ones_stay(root, make, push, versions, denounce):
    collection = make(3)
    push(collection, "good", "good", "good")
    denounce(collection, 2, 3)
    root.call("PATCH", f"{V1}/{collection}/versions/v2", json={"pinned": True}, headers=MERGE)
    assert {1: "whole", 2: "broken", 3: "broken"} == versions(collection)

    push(collection, "good")
    assert {1: "whole", 2: "broken", 4: "whole"} == versions(collection)

    denounce(collection, 4)
    root.call("PATCH", f"{V1}/{collection}", json={"guards": {"min_retention": "PT1H"}}, headers=MERGE)
    assert "refused" == _refusal(root, collection)
    assert {1: "whole", 2: "broken", 4: "broken"} == versions(collection)


def _refusal(root, collection):
    answer = root.push(collection, b"good 9")
    return "added" if answer.status_int == 200 else "refused"


def test_a_strategy_that_refuses_is_obeyed(root, make, push, versions, denounce):
    collection = make(2, strategy="alert_when_backup_limit_reached")
    push(collection, "good", "good")
    denounce(collection, 1)

    assert "refused" == _refusal(root, collection)
    assert {1: "broken", 2: "whole"} == versions(collection)


def test_a_released_version_takes_the_place_of_a_newer_condemned_one(root, make, push, versions, denounce):
    collection = make(2)
    push(collection, "good", "broken", "good")
    denounce(collection, 3)

    root.call("PATCH", f"{V1}/{collection}/versions/v2", json={"quarantined": False}, headers=MERGE)

    assert {1: "whole", 2: "unchecked"} == versions(collection)


@pytest.mark.parametrize("limit", [0, 4])
def test_keep_counts_a_bad_version_as_that_of_a_day_only_without_a_good_one(
    root, make, push, versions, denounce, limit
):
    rules = dict.fromkeys(("last", "weekly", "monthly"), 0) | {"daily": 1}
    collection = make(limit, strategy="keep")
    root.call("PATCH", f"{V1}/{collection}", json={"strategy_options": rules}, headers=MERGE)
    push(collection, "good", "good")
    assert {2: "whole"} == versions(collection)

    denounce(collection, 2)
    assert {1: "whole", 2: "broken"} == versions(collection)
    push(collection, "good")

    assert {1: "whole", 3: "whole"} == versions(collection)


def test_a_preview_says_the_same(root, make, push, denounce):
    collection = make(3)
    push(collection, "good", "good", "good")
    denounce(collection, 2)

    answer = root.call("POST", f"{V1}/{collection}/retention/preview", json={})

    assert [2] == [one["number"] for one in answer.json["versions"] if one["evicted_by"]]
