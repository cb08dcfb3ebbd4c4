"""The host's clock is a day ahead for one night, and then right again: no good version is lost, and no verdict."""

from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.db import types
from support.reliability.clock import clock_of

MERGE = {"Content-Type": "application/merge-patch+json"}
V1 = "/api/v1/collections"
START = datetime(2028, 2, 25, 2, tzinfo=UTC)
KEEP = {"strategy": "keep", "strategy_options": {"daily": 3, "last": 2}}


class Nights:
    """A clock that stands at two o'clock of a night. It is a day ahead on the night `ahead`."""

    ahead = 4
    now = START

    def read(self):
        return self.now.timestamp()

    def begin(self, night, hours=0):
        self.now = START + timedelta(days=night + (night == self.ahead), hours=hours)


@pytest.fixture
def nights(monkeypatch):
    nights = Nights()
    monkeypatch.setattr(types, "datetime", clock_of(nights.read))
    return nights


@pytest.fixture
def change(root):
    def change(collection, path="", **more):
        answer = root.call("PATCH", f"{V1}/{collection}{path}", json=more, headers=MERGE)
        assert answer.status_int == 200, answer.json
        return answer.json

    return change


@pytest.mark.costly
@pytest.mark.parametrize("word", ["good", "broken", "odd", "pending"])
@pytest.mark.parametrize(("limit", "strategy"), [(1, {}), (3, {}), (3, KEEP)], ids=["1", "3", "keep"])
def test_the_newest_good_version_stays_and_is_named(nights, make, change, push, named, versions, limit, strategy, word):
    """On the wrong night, and on those after it, this word arrives."""
    nights.begin(0)
    collection = make(limit)
    if strategy:
        change(collection, **strategy)
    for night in range(nights.ahead):
        nights.begin(night)
        push(collection, "good")
    kept = [number for number, found in versions(collection).items() if found == "whole"]
    for night in range(nights.ahead, nights.ahead + 4):
        nights.begin(night)
        push(collection, word)

    last = 8 if word == "good" else 4
    assert last == named(collection, "good")
    if word != "good":
        assert set(kept) <= versions(collection).keys()
    nights.begin(nights.ahead + 4)
    push(collection, "good")
    assert (9, 9) == (named(collection, "latest"), named(collection, "good"))


def test_a_release_counts_although_the_finding_is_of_tomorrow(nights, make, change, push, named, versions, judge):
    nights.begin(nights.ahead)
    collection = make(3)
    push(collection, "broken", "pending")
    judge(collection, 2, "broken")
    nights.begin(nights.ahead + 1, hours=-20)
    for number in (1, 2):
        change(collection, f"/versions/v{number}", quarantined=False)

    assert {1: "unchecked", 2: "unchecked"} == versions(collection)
    push(collection, "good")
    change(collection, "/versions/v1", note="judged again")
    assert {1: "unchecked", 2: "unchecked", 3: "whole"} == versions(collection)
    assert 3 == named(collection, "good")


def test_patience_ends_early_or_late_and_evicts_no_newest_good_one(nights, make, push, named, versions, services):
    nights.begin(nights.ahead - 1)
    collection = make(1)
    push(collection, "good", "pending")
    nights.begin(nights.ahead, hours=1)
    services.jobs.run("unjudged", cause="console")
    assert {1: "whole", 2: "pending"} == versions(collection)
    push(collection, "pending")
    for night in range(nights.ahead + 1, nights.ahead + 4):
        nights.begin(night, hours=2)
        services.jobs.run("unjudged", cause="console")

        assert 1 == named(collection, "good")
    assert "whole" == versions(collection)[1]
    push(collection, "good")
    assert {4: "whole"} == versions(collection)


def test_the_deadline_is_right_again_with_the_next_night(nights, make, change, push, shown, judge):
    nights.begin(0)
    collection = make(3)
    change(collection, expected_every="P1D")
    push(collection, "good")
    nights.begin(nights.ahead)
    push(collection, "good")
    nights.begin(nights.ahead + 1)
    push(collection, "good")
    right = shown(collection)["due_at"]
    push(collection, "pending")
    judge(collection, 4, "broken")

    assert (START + timedelta(days=nights.ahead + 2)).isoformat()[:16] == right[:16]
    assert right == shown(collection)["due_at"]
    nights.begin(nights.ahead + 4)
    assert "overdue" == shown(collection)["state"]


def test_what_is_in_the_trash_stays_as_long_as_promised(nights, make, push, services, versions):
    nights.begin(nights.ahead)
    collection = make(1)
    push(collection, "good", "good")
    nights.begin(nights.ahead + 1)
    push(collection, "good")
    nights.begin(nights.ahead + 7, hours=-1)
    services.jobs.run("trash", cause="console")

    assert [1, 2] == sorted(entry.number for entry in services.trash.list(collection))
    assert {3: "whole"} == versions(collection)
