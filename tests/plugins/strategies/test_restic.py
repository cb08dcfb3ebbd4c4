"""`keep` decides as restic 0.14 does, for 2,000 recorded histories and for some that the installed restic decides."""

import random
import shutil
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from frepo_core.plugins import CollectionState, IncomingVersion, VersionInfo
from frepo_strategies import Keep, KeepOptions
from support.restic.histories import COUNT, COUNTED, make_cases, read_cases
from support.restic.repository import Restic

NO_RULES = dict.fromkeys(COUNTED, 0)


def collection_of(case, times):
    """Make a collection of versions that were added in this order, under the options of the case."""
    versions = [
        VersionInfo(id=time.isoformat(), number=number, size=1, created_at=time)
        for number, time in enumerate(times, start=1)
    ]
    options = KeepOptions(**(NO_RULES | case.options), timezone=case.zone)
    return CollectionState(max_versions=0, max_size=0, stored_size=len(versions), versions=versions, options=options)


def split(case):
    """Return the time of the incoming version, and the times of the others."""
    return case.times[case.incoming], case.times[: case.incoming] + case.times[case.incoming + 1 :]


def evicted(case):
    """Return the times of the versions that the strategy evicts."""
    incoming, others = split(case)
    state = collection_of(case, others)
    return {version.created_at for version in Keep().make_room(state, IncomingVersion(size=1, created_at=incoming))}


def removed(case):
    """Return the times of the snapshots that restic removes. The incoming version is always kept by frepo."""
    rules = case.rules or [["no policy"]] * len(case.times)
    return {time for time, names in zip(case.times, rules, strict=True) if not names} - {case.times[case.incoming]}


def explained(case):
    """Return the rules that keep each version, in the order of the times."""
    incoming, others = split(case)
    rules = Keep().explain(collection_of(case, [*others, incoming]))
    return [sorted(rules[time.isoformat()]) for time in case.times]


def reasons(case):
    """Return restic's reasons in the order of the times."""
    return [sorted(names) for names in case.rules] if case.rules else [["everything"]] * len(case.times)


@pytest.fixture(scope="module")
def recorded():
    return read_cases()


@pytest.mark.costly
def test_every_recorded_decision_is_the_same(recorded):
    differing = [case for case in recorded if evicted(case) != removed(case)]

    assert (len(recorded), differing) == (COUNT, [])


def test_every_recorded_reason_is_the_same(recorded):
    assert [case for case in recorded if explained(case) != reasons(case)] == []


def test_the_recorded_histories_contain_what_is_easily_wrong(recorded):
    hours = sum(len({time.date() for time in case.times}) < len(case.times) for case in recorded)
    leap_days = sum(any((time.month, time.day) == (2, 29) for time in case.times) for case in recorded)
    future = sum(case.incoming < len(case.times) - 1 for case in recorded)
    evictions = sum(len(removed(case)) for case in recorded)

    assert hours > 500
    assert leap_days > 100
    assert future > 50
    assert evictions > 10_000


@pytest.fixture(scope="module")
def restic(tmp_path_factory):
    """Make a repository. It is shared, because deriving its first key takes seconds."""
    if not shutil.which("restic"):
        pytest.skip("restic is not installed")
    return Restic(tmp_path_factory.mktemp("restic") / "repository")


@pytest.mark.costly
def test_the_installed_restic_decides_the_same(restic):
    cases = list(make_cases(random.Random(), 20, restic))

    assert [case for case in cases if evicted(case) != removed(case) or explained(case) != reasons(case)] == []


@pytest.mark.costly
def test_written_snapshots_count_like_those_of_a_backup(restic, tmp_path):
    before, at, after = (datetime(2025, 3, 30, hour, 30, tzinfo=ZoneInfo("Europe/Warsaw")) for hour in (1, 3, 5))
    (tmp_path / "dump").write_text("backup")
    restic.set_snapshots([before, after], "Europe/Warsaw")

    restic.run("Europe/Warsaw", "backup", "--quiet", "--time", f"{at:%Y-%m-%d %H:%M:%S}", str(tmp_path / "dump"))

    assert sorted(restic.forget({"last": 3}, "Europe/Warsaw")) == [before, at, after]
    assert sorted(restic.forget({"last": 2}, "Europe/Warsaw")) == [at, after]
