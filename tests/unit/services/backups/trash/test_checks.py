"""The results of checks go into the trash and come back with their version; their details stay in the database."""

import tracemalloc
from datetime import timedelta

import pytest

from frepo_core.domain.identity import Actor
from frepo_core.services.backups.trash.expiry import end_expired
from frepo_core.services.backups.versions.version_checks import NewCheck

pytestmark = pytest.mark.databases

JOB = Actor(name="system:restore_tests")
MIB = 1 << 20
WAYS = pytest.mark.parametrize("way", ["deleted", "evicted", "collection deleted"])


@pytest.fixture
def make_checked(services, make_collection, push):
    """Make a collection of three versions with two results each, and with this text in the details of one."""

    def make_checked(text="ü"):
        collection = make_collection()
        for content in (b"first", b"second", b"third"):
            version = push(collection, content).version
            for name, outcome, details in (("restore", "good", {"seconds": 3}), ("vendor", "broken", {"text": text})):
                check = NewCheck(name=name, outcome=outcome, message=f"of {version.number}", details=details)
                assert services.late_results.record(version.id, check, by=JOB)
        return collection

    return make_checked


@pytest.fixture
def remove(services, push, sender):
    """The ways to remove version 1 of a collection, or all of it."""
    return {
        "deleted": lambda collection: services.versions.delete(collection, "v1", by=sender),
        "evicted": lambda collection: push(collection, b"fourth"),
        "collection deleted": lambda collection: services.collections.delete(collection, by=sender, with_versions=True),
    }


@pytest.fixture
def restore(services, sender):
    """The ways back."""

    def restore_evicted(collection):
        for name in ("v2", "v3"):  # it needs room
            services.versions.delete(collection, name, by=sender)
        services.trash.restore(collection, 1, by=sender)

    return {
        "deleted": lambda collection: services.trash.restore(collection, 1, by=sender),
        "evicted": restore_evicted,
        "collection deleted": lambda collection: services.deleted_collections.restore(collection, by=sender),
    }


@WAYS
def test_they_come_back_as_they_were(services, make_checked, remove, restore, way):
    collection, other = make_checked(), make_checked("another")
    number = None if way == "collection deleted" else 1
    before = services.version_checks.of_collection(collection, number)
    of_others = services.version_checks.of_collection(other)

    remove[way](collection)
    restore[way](collection)

    assert len(before) == (2 if number else 6)
    assert before == services.version_checks.of_collection(collection, number)
    assert of_others == services.version_checks.of_collection(other)


@pytest.mark.costly
@WAYS
def test_their_details_are_not_loaded(make_checked, remove, restore, way):
    for collection in (make_checked(), make_checked("x" * MIB)):  # the first round also loads code
        tracemalloc.start()
        try:
            remove[way](collection)
            restore[way](collection)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert peak < MIB


def test_they_end_with_their_entry(services, make_checked, remove, sender, kept_checks):
    collection = make_checked()
    remove["deleted"](collection)
    assert ["restore", "vendor"] == sorted(check["name"] for check in kept_checks())
    services.trash.end(collection, 1, by=sender)
    assert [] == kept_checks()

    remove["collection deleted"](collection)
    assert 4 == len(kept_checks())
    later = services.deleted_collections.list()[0].ends_at + timedelta(seconds=1)
    end_expired(services.database, services.blobs, now=later, by=None, keep_going=lambda: None)
    assert [] == kept_checks()


@WAYS
def test_those_that_earlier_code_has_kept_come_back(services, make_checked, remove, restore, keep_as_before, way):
    """It kept them within the entry, and does so until its last process has ended."""
    collection = make_checked()
    number = None if way == "collection deleted" else 1
    before = services.version_checks.of_collection(collection, number)
    remove[way](collection)
    keep_as_before()

    restore[way](collection)

    assert before == services.version_checks.of_collection(collection, number)
