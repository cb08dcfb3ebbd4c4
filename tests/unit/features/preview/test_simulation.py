"""Simulated uploads: the decisions are those of uploads, with the day, the rule and the storage of each."""

from datetime import UTC, date, datetime, timedelta

import pytest

from frepo_core.domain.backups.guards import Guards
from frepo_core.domain.limits import Limits
from frepo_core.domain.schedules.backup_deadlines import parse_expectation
from frepo_core.errors import PluginError
from frepo_core.features.preview import simulation
from frepo_core.features.preview.schedule import Schedule
from frepo_core.features.preview.simulation import Simulation
from frepo_core.features.preview.timeline import Day, Eviction
from frepo_core.plugins import CollectionStrategy, StrategySpec, VersionInfo
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.backups.rotation.decision import RotationState
from frepo_strategies import KeepOptions
from support.scale import IS_BIG

START = datetime(2026, 1, 1, 2, tzinfo=UTC)
DAY = timedelta(days=1)
NO_RULES = dict.fromkeys(("last", "hourly", "daily", "weekly", "monthly", "yearly"), 0)


class Silent(CollectionStrategy):
    """A strategy of a third party: keeps three versions, and does not explain itself."""

    def make_room(self, collection, incoming):
        return list(collection.versions)[: max(0, len(collection.versions) - 2)]


class Wrong(Silent):
    def explain(self, collection):
        return {version.id: [7] for version in collection.versions}


class Broken(Silent):
    def explain(self, collection):
        raise KeyError("no such rule")


@pytest.fixture(scope="module")
def plugins():
    strategies = [StrategySpec(name=one.__name__.lower(), build=one) for one in (Silent, Wrong, Broken)]
    acme = FoundPlugin(name="acme", distribution="acme-thin", version="1.2.3", strategies=strategies)
    return PluginRegistry([*PluginRegistry.from_entry_points().found, acme])


@pytest.fixture
def simulate(plugins):
    """Simulate nightly uploads of 10 bytes into an empty collection."""

    def simulate(nights=10, strategy="keep", *, options=None, limits=(0, 0), guards=None, start=(), pinned=0, **more):
        state = RotationState(
            limits=Limits(versions=limits[0], version_size=0, total_size=limits[1]),
            strategy=strategy,
            versions=list(start),
            stored_size=sum(version.size for version in start),
            options=KeepOptions(**options) if options is not None else None,
            pinned_count=pinned,
            pinned_size=sum(version.size for _, version in more.get("restored", ())),
        )
        return Simulation(plugins, state, guards or Guards(), **more).run(nightly(nights).uploads())

    return simulate


def nightly(nights, **more):
    values = {"every": parse_expectation("P1D"), "start": START, "duration": nights * DAY, "size": 10}
    return Schedule(**(values | more))


def kept(timeline):
    return [fate.version.number for fate in timeline.fates if fate.eviction is None]


def test_an_evicted_version_has_its_day_and_the_rule_that_kept_it_before(simulate):
    timeline = simulate(10, options=NO_RULES | {"daily": 3})

    assert (timeline.fates[0].rules, timeline.fates[0].eviction) == (
        ("daily",),
        Eviction(at=START + 3 * DAY, by=4, cause="rule"),
    )


def test_a_strategy_that_does_not_explain_itself_has_no_rules(simulate):
    thinned, rotated = simulate(5, "silent"), simulate(5, "delete_oldest_when_adding_new", limits=(3, 0))

    assert (kept(thinned), thinned.fates[0].rules, thinned.fates[0].eviction.cause) == ([3, 4, 5], (), "rule")
    assert (kept(rotated), rotated.fates[0].rules, rotated.fates[0].eviction.cause) == ([3, 4, 5], (), "room")


def test_a_fault_of_an_explanation_names_the_package(simulate):
    for name, message in [("wrong", "not texts"), ("broken", "KeyError: 'no such rule'")]:
        with pytest.raises(
            PluginError, match=rf"'{name}' \(the plug-in 'acme' of the package acme-thin 1.2.3\).*{message}"
        ):
            simulate(5, name)


def test_pinned_versions_that_leave_no_room_refuse_every_upload(simulate):
    old = VersionInfo(id="a", number=1, size=5, created_at=START - DAY)
    timeline = simulate(2, options={}, limits=(3, 0), pinned=3, start=[old], last_number=1)

    assert [refused.error.number for refused in timeline.refused] == [4000, 4000]
    assert [fate.rules for fate in timeline.fates] == [("last", "daily", "weekly", "monthly")]


def test_a_restored_version_is_rotated_when_its_protection_ends(simulate):
    old = VersionInfo(id="a", number=1, size=5, created_at=START - DAY)
    timeline = simulate(
        5, "delete_oldest_when_adding_new", limits=(3, 0), pinned=1, restored=[(START + 3 * DAY, old)], last_number=1
    )

    assert timeline.fates[0].eviction == Eviction(at=START + 3 * DAY, by=5, cause="room")
    assert [(day.versions, day.size) for day in timeline.days] == [(2, 15), (3, 25), (3, 25), (3, 30), (3, 30)]


def test_versions_in_quarantine_need_storage(simulate):
    assert simulate(1, options={}, quarantined=(2, 5)).days == [
        Day(day=date(2026, 1, 1), versions=3, size=15, trash_size=0)
    ]


def test_a_protected_version_is_evicted_when_it_is_old_enough(simulate):
    timeline = simulate(8, options=NO_RULES | {"last": 1}, guards=Guards(min_retention=3 * DAY))

    assert timeline.fates[0].eviction == Eviction(at=START + 3 * DAY, by=4, cause="rule")
    assert [(fate.version.number, fate.protection) for fate in timeline.fates if not fate.eviction] == [
        (6, "min_retention"),
        (7, "min_retention"),
        (8, "min_retention"),
    ]


def test_sizes_grow_each_month():
    sizes = [upload.size for upload in nightly(3653, size=1000, growth=1).uploads()]

    assert (sizes[0], sizes[365], sizes[3652]) == (1000, 1127, 3300)


def test_cron_is_read_in_its_zone():
    plan = nightly(2, every=parse_expectation("0 2 * * * Europe/Warsaw"), start=datetime(2026, 3, 28, tzinfo=UTC))

    assert [upload.created_at.hour for upload in plan.uploads()] == [1, 1]


def test_a_simulation_that_reads_too_much_is_ended(simulate, monkeypatch):
    for guards in [Guards(), Guards(min_retention=3 * DAY)]:
        monkeypatch.setattr(simulation, "MAX_READS", 50)
        timeline = simulate(100, options={}, guards=guards)

        assert (timeline.is_complete, 5 < len(timeline.fates) < 20) == (False, True), guards


def test_ten_thousand_nights_are_simulated_completely(simulate, monkeypatch):
    """`MAX_READS` limits the work; for each change, a tenth of it limits that of a thousand nights.

    The benchmarks measure the time, which a busy machine must not limit here.
    """
    part = 1 if IS_BIG else 10
    nights = 10_000 // part
    monkeypatch.setattr(simulation, "MAX_SECONDS", float("inf"))
    monkeypatch.setattr(simulation, "MAX_READS", simulation.MAX_READS // part)
    for rules in [
        {"options": {"yearly": 10}},
        {"options": {}, "guards": Guards(min_retention=2 * DAY), "trash_keep": 3650 * DAY},
        {"strategy": "delete_oldest_when_adding_new", "limits": (nights // 2, 0)},
        {"strategy": "alert_when_backup_limit_reached", "guards": Guards(min_retention=DAY)},
    ]:
        timeline = simulate(nights, **({"trash_keep": 7 * DAY} | rules))

        assert (nights, True) == (len(timeline.fates), timeline.is_complete), rules
