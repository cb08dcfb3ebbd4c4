"""Collections in which nothing is to be done are not read again until something changes."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from frepo_core.db.models import StoredObject, Version
from frepo_core.db.types import simulated_time
from frepo_core.errors import FrepoError
from frepo_core.features.compact.survey import Surveys
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.versions.version_edits import VersionChange


@pytest.fixture
def read(monkeypatch):
    """The ids of the collections that were read."""
    names, read = [], Surveys.read
    monkeypatch.setattr(Surveys, "read", lambda self, name, now: names.append(name) or read(self, name, now))
    return names


@pytest.fixture
def settled(history, read):
    """Two collections in which the last run had nothing to do."""
    made = [history.make(), history.make()]
    for name in made:
        history.push(name)
        history.push(name)
    history.job()
    history.job()
    read.clear()
    return made


def test_nothing_is_read_again_if_nothing_has_changed(history, settled, read):
    history.job()

    assert [] == read


@pytest.mark.parametrize("change", ["push", "verdict", "quarantine", "pin", "delete", "damage", "lock", "limit"])
def test_what_changes_is_read_again(history, settled, read, services, by, change):
    name = settled[0]
    first = services.versions.find(name, "v1")
    of_first = update(Version).where(Version.id == first.id)
    with simulated_time(history.time):
        match change:
            case "push":
                history.push(name, hours=1)
            case "verdict":
                services.database.execute(of_first.values(verdict="broken"))
            case "quarantine":
                services.database.execute(of_first.values(quarantined_at=datetime(2026, 1, 3, tzinfo=UTC)))
            case "pin":
                services.version_edits.edit(name, first.id, VersionChange(pinned=True), by=by)
            case "delete":
                history.delete(name, "v1")
            case "damage":
                damaged = update(StoredObject).where(StoredObject.digest == first.file.blob.digest)
                services.database.execute(damaged.values(state="damaged"))
            case "lock":
                services.collections.edit(name, CollectionChange(limits={}, locked=timedelta(days=1)), by=by)
            case "limit":
                services.collections.edit(name, CollectionChange(limits={"versions": 7}), by=by)

    history.job(hours=8)

    assert [name] == read


def test_time_alone_is_enough_when_a_version_is_old_enough_and_after_a_day(history, read):
    collection = history.make()
    history.push(collection)
    history.push(collection, hours=1)
    history.job(hours=8)
    read.clear()

    assert 0 == history.job(hours=9)["encoded"]
    assert [] == read
    assert 1 == history.job(hours=23)["encoded"]
    history.job(hours=25)
    read.clear()
    history.job(hours=48)
    assert [] == read
    history.job(hours=50)
    assert [collection] == read


def test_a_collection_is_settled_if_its_strategy_prevents_what_would_be_done_without_it(history, read):
    """The version of a month stays longer than newer ones, which could be its base otherwise."""
    collection = history.make(count=40, strategy="keep", strategy_options={"last": 2, "monthly": 12})
    history.push(collection)
    for _ in range(3):
        history.push(collection, days=10)
    history.job()
    history.job()
    read.clear()

    assert 0 == history.job()["encoded"]
    assert [] == read
    history.check()


def test_a_collection_whose_strategy_fails_is_asked_again(history, read, monkeypatch):
    collection = history.make()
    history.push(collection)
    history.push(collection)

    def fail(self, *_):
        raise FrepoError("the strategy failed")

    with monkeypatch.context() as patched:
        patched.setattr(Surveys, "with_ends", fail)
        assert (1, 1) == (history.job()["failed"], history.job()["failed"])
    assert 1 == history.job()["encoded"]
