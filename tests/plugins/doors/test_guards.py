"""The guards that a strategy gives its collections, and those that a plug-in chooses for one version."""

import io
from datetime import timedelta

import pytest

from frepo_core.plugins import CollectionStrategy, CollectionValues, Guards, StrategySpec

from .conftest import DUMP

SEGMENT, SMALL = DUMP * 8, b"1\t0/3000000\tbefore the promotion\n"


class OldestFirst(CollectionStrategy):
    """Evicts the oldest version."""

    def make_room(self, collection, incoming):
        return [] if collection.has_room(incoming) else [collection.versions[0]]


@pytest.fixture
def offers():
    guards = Guards(max_shrink_percent=0, expects_kind=False, min_retention=timedelta(hours=1))
    return {"strategies": [StrategySpec(name="segments", build=OldestFirst, guards=guards)]}


def guards_of(running, collection):
    return running.request("GET", f"/api/v1/collections/{collection}").json["guards"]


def created(running, **more):
    return running.request("POST", "/api/v1/collections", {"name": "wal", **more}).json["id"]


def test_a_strategy_gives_the_guards_of_its_collections(running, service, identify):
    by = identify(running.admin)
    values = CollectionValues(name="wal", strategy="segments", guards=Guards(min_version_size=1))
    chosen = {"strategy": "segments", "guards": {"max_shrink_percent": 20}}
    old = running.request("POST", "/repository/collection", {"strategy": "segments", "filename": "wal"}).json

    found = {
        name: guards_of(running, collection)
        for name, collection in {
            "its own": created(running, strategy="segments"),
            "of a plug-in": service.create_collection(values, by=by).id,
            "chosen": created(running, **chosen),
            "of the fixture": running.make_collection(strategy="segments"),
            "of the first API": old["collection"]["id"],
            "another strategy": created(running),
        }.items()
    }

    assert {
        "its own": ("PT1H", 0, 0, False, "quarantine"),
        "of a plug-in": ("PT1H", 1, 0, False, "quarantine"),
        "chosen": ("PT1H", 0, 20, False, "quarantine"),
        "of the fixture": ("PT1H", 0, 0, False, "quarantine"),
        "of the first API": ("PT1H", 0, 0, False, "refuse"),
        "another strategy": ("PT0S", 0, 50, True, "quarantine"),
    } == {
        name: tuple(
            one[guard]
            for guard in ("min_retention", "min_version_size", "max_shrink_percent", "expects_kind", "on_suspicious")
        )
        for name, one in found.items()
    }


def test_collections_of_the_fixture_have_the_guards_of_real_ones(running):
    assert guards_of(running, created(running)) == guards_of(running, running.make_collection())


def test_a_version_may_have_guards_that_fit_its_content(running, service, uploader, collection):
    for number in range(2):
        service.add_version(collection, io.BytesIO(SEGMENT + bytes([number])), by=uploader)

    refused = service.add_version(collection, io.BytesIO(SMALL), by=uploader)
    none = Guards(max_shrink_percent=0, expects_kind=False)
    stored = service.add_version(collection, io.BytesIO(SMALL), by=uploader, guards=none)

    assert (True, "new_version_shrank_too_much") == (refused.quarantined, refused.quarantine_reason)
    assert (False, None) == (stored.quarantined, stored.quarantine_reason)
    assert 50 == guards_of(running, collection)["max_shrink_percent"]


def test_later_versions_are_not_compared_with_one_that_no_guard_looked_at(service, uploader, collection):
    none = Guards(max_shrink_percent=0, expects_kind=False)
    for number in range(3):
        service.add_version(collection, io.BytesIO(SEGMENT + bytes([number])), by=uploader)
    for number in range(3):
        service.add_version(collection, io.BytesIO(SMALL + bytes([number])), by=uploader, guards=none)

    assert service.add_version(collection, io.BytesIO(SMALL), by=uploader).quarantined


def test_a_guard_of_one_version_can_be_stricter(service, uploader, collection):
    strict = Guards(min_version_size=len(SEGMENT), on_suspicious="quarantine")

    assert service.add_version(collection, io.BytesIO(SMALL), by=uploader, guards=strict).quarantined
    assert not service.add_version(collection, io.BytesIO(SEGMENT), by=uploader, guards=strict).quarantined


def test_guards_have_values_that_mean_something(service, uploader, collection):
    for wrong in ({"max_shrink_percent": 101}, {"on_suspicious": "delete"}, {"min_retention": 3}, {"expects_kind": 1}):
        with pytest.raises((TypeError, ValueError)):
            Guards(**wrong)
    with pytest.raises(ValueError, match="min_retention"):
        service.add_version(collection, io.BytesIO(SMALL), by=uploader, guards=Guards(min_retention=timedelta(days=1)))


class TestState:
    @pytest.fixture
    def seen(self):
        return []

    @pytest.fixture
    def offers(self, seen):
        class Watching(OldestFirst):
            def make_room(self, collection, incoming):
                seen.append((collection.collection, collection.guards))
                return super().make_room(collection, incoming)

        guards = Guards(min_version_size=1)
        return {"strategies": [StrategySpec(name="watching", build=Watching, guards=guards)]}

    def test_a_strategy_sees_whose_versions_it_evicts(self, running, service, identify, seen):
        values = CollectionValues(name="wal", labels=["shop"], strategy="watching", guards=Guards(expects_change=True))
        by = identify(running.admin)
        made = service.create_collection(values, by=by)

        service.add_version(made.id, io.BytesIO(SEGMENT), by=by)

        info, guards = seen[-1]
        assert (made.id, "wal", ("shop",)) == (info.id, info.name, info.labels)
        assert (1, 50, True, timedelta()) == (
            guards.min_version_size,
            guards.max_shrink_percent,
            guards.expects_change,
            guards.min_retention,
        )
