"""Whoever has only the token of a cron job cannot make a good backup disappear within a week.

Each seed is another week: another collection, other attacks. The protections are broken on purpose, too.
"""

import re
from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from random import Random

import pytest
from webtest import TestApp

from frepo_core.db.models import Version
from frepo_core.domain.backups.guards import Guards
from frepo_core.errors import SweepStoppedError
from frepo_core.services.backups.rotation import admission
from frepo_core.services.backups.rows.version_rows import select_with_files
from frepo_core.services.backups.trash.early_ending import EarlyEnding
from frepo_core.services.content.objects.uses import is_used_by_file
from frepo_core.services.content.storages.sweep_guard import Ownership
from frepo_core.web import all_endpoints, make_app
from support.scale import IS_BIG, first_of
from support.siege.besieged import Besieged, Plan
from support.siege.week import Week, read_trash

WEEKS = 500 if IS_BIG else 1
# Room for the versions of the collection and for some in the trash; attacks fill it.
SMALL = 40_000


@pytest.fixture
def ini(ini):
    return ini | {"trash.min_free": "10%", "health_check.code": "health-5ecre7"}


@pytest.fixture
def besiege(open_services, tmp_path, ini):
    """Make a service of its own for a plan."""
    opened = []

    def besiege(plan, draw):
        folder = tmp_path / str(len(opened))
        folder.mkdir()
        services = open_services(folder, ini)
        opened.append(services)
        besieged = Besieged(services=services, app=TestApp(make_app(services)), plan=plan, draw=draw)
        Ownership(services.database, services.backends).claim("local")  # as a service does when it starts
        return besieged

    yield besiege
    for services in opened:
        services.database.engine.dispose()


@pytest.fixture
def live(caplog):
    """Live through a week; no job and no request may log an error meanwhile."""

    def live(besieged):
        Week(besieged).live()
        errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
        assert [] == [text for text in errors if not text.startswith("StorageFull:")], (
            "but 507 is due on a full storage"
        )

    return live


@pytest.mark.parametrize("seed", range(WEEKS))
def test_every_good_version_is_there_or_can_be_restored_on_day_6(besiege, live, seed):
    draw = Random(seed)
    live(besiege(Plan.draw(draw), draw))


@pytest.mark.parametrize("capacity", first_of([SMALL, None]))
def test_a_flood_of_garbage_ends_no_good_version_before_the_garbage(besiege, capacity):
    draw = Random(1)
    Week(besiege(replace(PLAN, capacity=capacity, floods=True), draw)).live()


@pytest.mark.parametrize("seed", range(max(1, WEEKS // 3)))
def test_a_storage_that_fills_up_gives_way_in_the_order_that_favours_the_good_versions(besiege, seed):
    draw = Random(seed)
    Week(besiege(Plan.draw(draw, capacity=SMALL), draw)).live()


def test_no_request_to_any_endpoint_takes_a_version_away(besiege):
    """Uploads are left out: they may evict, into the trash."""
    besieged = besiege(PLAN, Random(0))
    for night in range(3):
        with besieged.after(timedelta(days=night)):
            besieged.back_up()
    assert besieged.root.call("PATCH", f"{besieged.v1}/versions/v2", json={"pinned": True}).status_int == 200
    besieged.root.delete(f"{besieged.v1}/versions/v1")
    before = besieged.numbers(), read_trash(besieged), besieged.root.get(besieged.v1).json
    names = {"collection": besieged.collection, "deleted": besieged.collection, "type": "file"}
    numbers = {"version": "v2", "selector": "latest", "number": "1", "token": besieged.thief.token, "name": "sweep"}
    answers = []
    for endpoint in all_endpoints(besieged.services):
        if endpoint.path.endswith(("/versions", "/backup", "/version")):
            continue
        fill = lambda match: (names | numbers).get(match[1], "0" * 12)
        path = re.sub(r"\{(\w+)[^}]*\}", fill, endpoint.path)
        bodies = (None, {}, {"pinned": False, "quarantined": False}, {"limits": {"versions": 1}})
        answers += [besieged.thief.call(endpoint.method, path, json=body).status_int for body in bodies]

    assert before == (besieged.numbers(), read_trash(besieged), besieged.root.get(besieged.v1).json)
    assert not [status for status in answers if status >= 500]
    assert len(answers) > 300


def _trash_off(services, monkeypatch):
    services.add_version.rules.keep = timedelta(0)


def _oldest_first(services, monkeypatch):
    candidates = EarlyEnding._candidates
    monkeypatch.setattr(EarlyEnding, "_candidates", lambda self, *count: candidates(self, *count)[::-1])


def _quarantine_counted(services, monkeypatch):
    """A version in quarantine takes the place of the oldest one."""

    def find_surplus(session, collection, *, keep, of_overtaken):
        rows = found(session, collection, keep=keep, of_overtaken=of_overtaken)
        if rows or collection.versions_count + collection.quarantined_count < collection.max_backups_count:
            return rows
        query = select_with_files().where(Version.collection_id == collection.id, Version.quarantined_at.is_(None))
        return session.scalars(query.order_by(Version.number).limit(1)).all()

    found = admission.find_surplus
    monkeypatch.setattr(admission, "find_surplus", find_surplus)


def _retention_ignored(services, monkeypatch):
    monkeypatch.setattr(Guards, "protects", lambda self, created_at, *, now: False)


def _sweep_blind(services, monkeypatch):
    for module in ("content.blobs.lifecycle", "upkeep.storage.sweep"):
        monkeypatch.setattr(import_module(f"frepo_core.services.{module}"), "is_used", is_used_by_file)


PLAN = Plan(
    made_by="v1",
    strategy="delete_oldest_when_adding_new",
    versions=3,
    nights=4,
    min_retention=0,
    pins=False,
    waits=timedelta(),
)


@pytest.mark.parametrize(
    ("break_it", "plan", "said"),
    [
        (_trash_off, PLAN, "not in the trash"),
        (_oldest_first, replace(PLAN, capacity=SMALL), "ended early, but the younger"),
        (_quarantine_counted, PLAN, "a version in quarantine evicted"),
        (_retention_ignored, replace(PLAN, min_retention=7), "younger than the retention"),
        # The sweep stops, because it would delete so many. The database would refuse, too, as the trash refers to the
        # bytes.
        (_sweep_blind, PLAN, "was stopped: nothing was deleted"),
    ],
)
def test_each_protection_that_is_broken_is_found(besiege, live, monkeypatch, break_it, plan, said):
    for seed in range(3):
        besieged = besiege(plan, Random(seed))
        break_it(besieged.services, monkeypatch)
        try:
            live(besieged)
        except (AssertionError, SweepStoppedError) as error:
            assert said in str(error)
            return
        monkeypatch.undo()
    pytest.fail("three weeks have passed without a finding")
