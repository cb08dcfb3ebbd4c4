"""A check of the service finds a version broken that had been accepted."""

import pytest
from sqlalchemy import select, update

from frepo_core.db.models import Event, Version, VersionCheck
from frepo_core.domain.identity import Actor
from frepo_core.errors import TooManyCondemnedError
from frepo_core.services.backups.versions.version_checks import NewCheck

pytestmark = pytest.mark.databases

JOB = Actor(name="system:restore_tests")
MERGE = {"Content-Type": "application/merge-patch+json"}


@pytest.fixture
def restore(services):
    """Record the result of a restore test of the service."""

    def restore(collection, number, outcome):
        version = services.versions.find(collection, f"v{number}")
        check = NewCheck(name="restore", outcome=outcome, message=f"it is {outcome}")
        return services.late_results.record(version.id, check, by=JOB)

    return restore


@pytest.fixture
def told(services):
    def told(kind):
        with services.database.reading() as session:
            return list(session.scalars(select(Event.version_number).where(Event.kind == kind).order_by(Event.id)))

    return told


def test_a_restored_one_is_the_best_there_is(make, push, versions, restore):
    collection = make()
    push(collection, "good")
    restore(collection, 1, "good")

    assert {1: "restored"} == versions(collection)


def test_it_stays_and_is_neither_latest_nor_first_nor_good(make, push, versions, named, shown, restore, told):
    collection = make(3)
    push(collection, "good", "good", "good")

    restore(collection, 3, "broken")
    restore(collection, 1, "broken")

    assert {1: "broken", 2: "whole", 3: "broken"} == versions(collection)
    assert [2, 2, 2] == [named(collection, name) for name in ("latest", "first", "good")]
    assert ("failed", "it is broken") == (shown(collection)["state"], shown(collection)["state_reason"])
    assert [3, 1] == told("version.condemned")

    push(collection, "good")
    assert "ok" == shown(collection)["state"]


def test_the_newest_good_one_comes_back_from_the_trash(make, push, versions, named, restore, services, told):
    collection = make(1)
    push(collection, "good", "good", "good")

    restore(collection, 3, "broken")

    assert {2: "whole", 3: "broken"} == versions(collection)
    assert 2 == named(collection, "latest")
    assert [2] == told("version.restored")
    # It is in the way of nobody.
    push(collection, "good")
    assert {4: "whole"} == versions(collection)


def test_what_a_person_has_deleted_stays_deleted(root, make, push, versions, restore):
    collection = make(2)
    push(collection, "good", "good", "good", "good")  # v1 and v2 are evicted
    root.call("DELETE", f"/api/v1/collections/{collection}/versions/v3")

    restore(collection, 4, "broken")
    assert {2: "whole", 4: "broken"} == versions(collection)

    restore(collection, 2, "broken")
    assert {1: "whole", 2: "broken", 4: "broken"} == versions(collection)

    restore(collection, 1, "broken")
    assert {1: "broken", 2: "broken", 4: "broken"} == versions(collection)


def test_it_comes_back_to_older_good_ones(root, make, push, versions, named, restore, told):
    collection = make(3)
    push(collection, "good")
    root.call("PATCH", f"/api/v1/collections/{collection}/versions/v1", json={"pinned": True}, headers=MERGE)
    push(collection, "good", "good", "good")
    assert {1: "whole", 3: "whole", 4: "whole"} == versions(collection)
    root.call("DELETE", f"/api/v1/collections/{collection}/versions/v3")
    push(collection, "good", "good")
    root.call("DELETE", f"/api/v1/collections/{collection}/versions/v5")

    restore(collection, 6, "broken")

    assert {1: "whole", 4: "whole", 6: "broken"} == versions(collection), "nobody has deleted v4"
    assert 4 == named(collection, "good")
    assert [4] == told("version.restored")


def test_one_that_is_broken_does_not_come_back(make, push, versions, restore, root):
    collection = make(1)
    push(collection, "good", "good")
    restore(collection, 2, "broken")
    root.call("DELETE", f"/api/v1/collections/{collection}/versions/v2")

    assert {1: "whole"} == versions(collection)
    restore(collection, 1, "broken")

    assert {1: "broken"} == versions(collection)


def test_a_person_can_release_it(root, make, push, versions, named, restore, shown):
    collection = make()
    push(collection, "good")
    restore(collection, 1, "broken")

    root.call("PATCH", f"/api/v1/collections/{collection}/versions/v1", json={"quarantined": False}, headers=MERGE)

    assert {1: "whole"} == versions(collection)
    assert 1 == named(collection, "latest")
    assert "ok" == shown(collection)["state"]


def test_a_test_that_says_nothing_takes_nothing_back(make, push, versions, named, shown, restore):
    collection = make(1)
    push(collection, "good", "good")
    restore(collection, 2, "broken")

    restore(collection, 2, "not checked")

    assert {1: "whole", 2: "broken"} == versions(collection)
    assert [1, 1] == [named(collection, name) for name in ("latest", "good")]
    assert ("failed", "it is broken") == (shown(collection)["state"], shown(collection)["state_reason"])
    assert "not checked" == shown(collection)["restore_outcome"]
    restore(collection, 2, "good")
    assert {1: "whole", 2: "restored"} == versions(collection)


def test_what_a_person_brings_back_from_the_trash_is_released(root, make, push, versions, named, restore):
    collection = make(3)
    push(collection, "good", "good")
    restore(collection, 2, "broken")
    root.call("DELETE", f"/api/v1/collections/{collection}/versions/v2")

    root.call("POST", f"/api/v1/collections/{collection}/trash/2/restore")

    assert {1: "whole", 2: "whole"} == versions(collection)
    assert 2 == named(collection, "latest")


def test_what_the_upgrade_knew_about_it_stays_when_its_collection_comes_back(root, make, push, versions, services):
    """Results from before migration 0027 do not say whether they are of the service: only the verdict does."""
    collection = make()
    push(collection, "good", "good")
    services.database.execute(update(VersionCheck).values(is_of_service=False))
    services.database.execute(update(Version).where(Version.number == 2).values(verdict="broken"))
    root.call("DELETE", f"/api/v1/collections/{collection}?versions=trash")

    root.call("POST", f"/api/v1/deleted-collections/{collection}/restore")

    assert {1: "whole", 2: "broken"} == versions(collection)


def test_what_a_client_posts_says_nothing(root, make, push, versions, shown):
    collection = make()
    push(collection, "good", "good")

    for name, outcome in (("restore", "broken"), ("mine", "broken"), ("restore", "good")):
        body = {"name": name, "outcome": outcome, "message": "says the client"}
        root.call("POST", f"/api/v1/collections/{collection}/versions/v1/checks", json=body)

    assert {1: "whole", 2: "whole"} == versions(collection)
    assert "ok" == shown(collection)["state"]


def test_a_broken_restore_host_condemns_three_collections_and_no_fleet(make, push, versions, restore):
    collections = [make() for _ in range(6)]
    for collection in collections:
        push(collection, "good")

    for collection in collections[:3]:
        restore(collection, 1, "broken")
    for collection in collections[3:]:
        with pytest.raises(TooManyCondemnedError, match="'restore' has condemned"):
            restore(collection, 1, "broken")

    found = [versions(collection)[1] for collection in collections]
    assert ["broken"] * 3 + ["whole"] * 3 == found


def test_a_later_test_that_restores_it_makes_it_latest_again(make, push, versions, restore, named, shown):
    collection = make(3)
    push(collection, "good", "good")
    restore(collection, 2, "broken")

    restore(collection, 2, "good")

    assert (2, 2) == (named(collection, "good"), named(collection, "latest"))
    assert "ok" == shown(collection)["state"]


def test_a_late_suspicion_that_leaves_no_good_one_brings_one_back(make, push, versions, named, services):
    collection = make(1)
    push(collection, "good", "good")
    found = NewCheck(name="other", outcome="suspicious", message="it is odd")

    services.late_results.record(services.versions.find(collection, "v2").id, found, by=JOB)

    assert {1: "whole", 2: "suspicious"} == versions(collection)
    assert 1 == named(collection, "good")


@pytest.mark.parametrize("outcome", ["not checked", "good"])
def test_what_was_known_before_the_upgrade_is_not_forgotten(make, push, versions, services, outcome):
    """Results from before migration 0027 do not say that they are of the service; 0028 has counted them."""
    collection = make(3)
    push(collection, "good", "good")
    old = services.versions.find(collection, "v1").id
    services.database.execute(update(Version).where(Version.id == old).values(verdict="broken", verdict_reason=None))
    of_old = update(VersionCheck).where(VersionCheck.version_id == old)
    services.database.execute(of_old.values(outcome="broken", message="cut", is_of_service=False))

    for name in ("restore", "other"):
        found = NewCheck(name=name, outcome=outcome, message="looked at it")
        services.late_results.record(old, found, by=JOB)

    assert {1: "broken", 2: "whole"} == versions(collection)
    assert "cut" == services.versions.find(collection, "v1").verdict_reason
