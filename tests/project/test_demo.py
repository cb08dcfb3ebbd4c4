"""The demonstration: a service that is filled by it is like one that ran for a year."""

import gzip
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import func, select

from demo import fill
from demo.catalogue import make_plans
from demo.images import draw_landscape
from demo.uploads import simulate
from frepo_core.db.models import Collection, Event, File, JobRun, Sample, StoredObject, Token, TrashEntry
from frepo_core.domain.event_kinds import EventKind
from frepo_core.errors import ConfigurationError
from frepo_core.features.aliases.feature import AliasServices
from frepo_core.features.doctor import Level, examine
from frepo_core.features.doctor.permissions import SettingFiles
from frepo_core.features.overview.feature import OverviewServices
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.backups.collections.states import BackupState
from frepo_core.services.base.keyset import PageRequest
from frepo_core.services.upkeep.storage import SweepPlan, sweep, verify
from support.demonstration import run_demo
from support.reliability.invariants import Ledger, assert_invariants
from support.servers.service import Service

pytestmark = pytest.mark.slow

NOW = datetime(2026, 5, 31, 12, tzinfo=UTC)
COLLECTIONS = 14


@pytest.fixture(scope="module")
def filled(open_services, tmp_path_factory):
    """A service with fourteen collections, which are filled once for all tests: they only read."""
    folder = tmp_path_factory.mktemp("demo")
    ini = {"app.env": "test", "app.secret": "app-5ecre7", "enc.token_phrase": "phrase-5ecre7", "fs.adapter": "local"}
    ini |= {"fs.local.directory": str(folder / "storage"), "temp_directory": str(folder / "temporary")}
    # All installed plug-ins: a check has to find the dump that was cut.
    services = open_services(folder, ini, PluginRegistry.from_entry_points())
    fill(services, collections=COLLECTIONS)
    yield services
    services.database.engine.dispose()


@pytest.fixture
def rows(filled):
    def rows(query):
        with filled.database.reading() as session:
            return session.execute(query).all()

    return rows


def damaged(services):
    with services.database.reading() as session:
        return session.scalars(select(StoredObject.digest).where(StoredObject.state == "damaged")).all()


def test_every_state_occurs(filled):
    states = filled.feature(OverviewServices).overviews.read().collections

    twice = {BackupState.OVERDUE, BackupState.LATE, BackupState.SUSPICIOUS, BackupState.FAILED}
    # A problem is what a plug-in reports, and the demonstration has none.
    expected = {state: 2 if state in twice else 1 for state in BackupState}
    assert expected | {BackupState.LATE: 5, BackupState.OK: 3, BackupState.PROBLEM: 0} == states.by_state


def test_a_cut_dump_is_quarantined_one_waits_for_its_verdict_and_one_was_restored(filled):
    found = {verdict: filled.versions.search([verdict]) for verdict in ("broken", "pending", "restored")}

    assert {
        "broken": [("jira-postgres.sql.gz", True)],
        "pending": [("keycloak-postgres.sql.gz", False)],
        "restored": [("billing-archive.zip", False)],
    } == {
        verdict: [(collection.filename, version.is_quarantined) for collection, version in versions]
        for verdict, versions in found.items()
    }


def test_versions_are_thinned_pinned_quarantined_and_in_the_trash(filled, rows):
    # Of 52 uploads in a year: one for each of six weeks, and of twelve months.
    [(versions, pinned)] = rows(
        select(Collection.versions_count, Collection.pinned_count).where(Collection.strategy == "keep")
    )

    assert (True, 1) == (14 <= versions <= 20, pinned)
    assert 2 == rows(select(func.sum(Collection.quarantined_count)))[0][0]
    assert {"evicted", "collection_deleted"} == {reason for (reason,) in rows(select(TrashEntry.reason))}
    assert ["old-intranet.tar.gz"] == [one.name for one in filled.deleted_collections.list()]


def test_the_promises_of_the_service_hold(filled):
    """Counters, numbers, contents and events fit together, but for the one version that was damaged on purpose."""
    assert 1 == len(damaged(filled))

    assert_invariants(filled, Ledger(), rotten=damaged(filled))


def test_verify_finds_the_damage_and_nothing_else_and_sweep_finds_nothing(filled):
    report = verify(filled.database, filled.backends)
    swept = sweep(filled.database, filled.backends, filled.blobs, SweepPlan(storage="local", grace=timedelta(hours=1)))

    assert damaged(filled) == [found.digest for found in report.damaged]
    assert (0, 0, 0) == (swept.orphans, swept.unused, swept.foreign)
    assert not swept.missing


def test_the_doctor_reports_the_damage_and_the_worker_that_does_not_run(filled):
    found = list(examine(lambda: filled, files=SettingFiles(ini=Path("none.ini"), settings={}), url=None))

    # Nothing can decode the damaged version. No worker has led yet, as in an installation that was not started.
    assert ["storage", "copies"] == [finding.subject for finding in found if finding.level == Level.PROBLEM]
    assert "upkeep" in [finding.subject for finding in found if finding.level == Level.WARNING]


def test_contents_are_what_their_names_say(filled):
    version = filled.versions.find(_id_of(filled, "shop-postgres.sql.gz"), "first")
    with filled.backends.get("local").open(version.file.blob.key) as content:
        dump = gzip.decompress(content.read())

    assert "application/gzip" == version.file.blob.mime
    assert dump.endswith(b"-- PostgreSQL database dump complete\n--\n")


def test_events_cover_a_year_in_the_order_of_their_times(rows):
    events = rows(select(Event.at, Event.kind).order_by(Event.id))
    kinds = Counter(event.kind for event in events)

    assert events == sorted(events, key=lambda event: event.at)
    assert events[-1].at - events[0].at > timedelta(days=365)
    assert kinds.keys() > {
        *(EventKind.VERSION_ADDED, EventKind.VERSION_EVICTED, EventKind.VERSION_REFUSED, EventKind.VERSION_SUSPICIOUS),
        *(EventKind.COLLECTION_OVERDUE, EventKind.COLLECTION_FULL, EventKind.COLLECTION_EDITED, EventKind.BLOB_DAMAGED),
        *(EventKind.FILE_ADDED, EventKind.ALIAS_CREATED, EventKind.TOKEN_ROTATED, EventKind.JOB_FAILED),
    }
    left = kinds[EventKind.VERSION_ADDED] - kinds[EventKind.VERSION_EVICTED] - kinds[EventKind.VERSION_DELETED]
    assert left == sum(count for (count,) in rows(select(Collection.versions_count + Collection.pending_count)))


def test_samples_and_job_runs_cover_each_day(rows):
    of_service = rows(select(Sample.at, Sample.size).where(Sample.collection_id.is_(None)).order_by(Sample.at))
    days = [sample.at.date() for sample in of_service]

    assert [days[0] + timedelta(days=number) for number in range(len(days))] == days
    assert len(days) > 360
    assert of_service[-1].size == pytest.approx(rows(select(func.sum(StoredObject.size)))[0][0], rel=0.2)
    assert {"good": 119, "failed": 1} == dict(rows(select(JobRun.outcome, func.count()).group_by(JobRun.outcome)))


def test_tokens_have_last_uses_and_files_have_tags(filled, rows):
    used = rows(select(Token.name, Token.last_used_at, Token.last_used_from))

    assert all(use.last_used_from.startswith("10.20.") for use in used if use.last_used_at)
    assert {"nas-backup", "press agency", "website-upload"} == {use.name for use in used if not use.last_used_at}
    assert 20 == rows(select(func.count()).select_from(File).where(File.kind == "plain"))[0][0]
    assert ["hero", "press", "prices"] == sorted(_aliases(filled))


def test_a_service_with_collections_is_refused_and_does_not_change(filled, rows):
    events = select(func.count()).select_from(Event)
    before = rows(events)

    with pytest.raises(ConfigurationError, match="has collections already"):
        fill(filled)

    assert before == rows(events)


@pytest.mark.costly
def test_the_same_seed_gives_the_same_plans_uploads_and_pictures():
    plugins = PluginRegistry.from_entry_points([])

    def uploads(seed):
        random = Random(seed)
        return [simulate(plan, NOW, random, plugins).uploads for plan in make_plans(12, random)]

    assert uploads(1) == uploads(1) != uploads(2)
    assert draw_landscape("1") == draw_landscape("1") != draw_landscape("2")


@pytest.mark.costly
def test_there_are_as_many_collections_as_wanted_with_different_names():
    names = [plan.name for plan in make_plans(1000, Random(1))]

    assert 1000 == len(set(names))


def _id_of(services, name):
    with services.database.reading() as session:
        return session.scalar(select(Collection.id).where(Collection.filename == name))


def _aliases(services):
    return [alias.name for alias in services.feature(AliasServices).aliases.page(PageRequest(limit=50)).items]


@pytest.fixture
def demo(tmp_path):
    """Run the program over a service whose state is in this folder; return what has ended."""
    service = Service(tmp_path)
    service.frepo("install")
    return lambda *arguments: run_demo({**service.environment, "FREPO_INI": str(service.ini)}, *arguments)


def test_it_fills_an_empty_service_once(demo):
    done = demo("--collections", "1", "--seed", "3")

    [total, staged, named] = done.stdout.splitlines()
    assert total.startswith("The service has 1 collections with ")
    assert ("These problems are staged", "  suspicious: shop-postgres.sql.gz") == (staged[:25], named)
    assert "has collections already" in demo().stderr


@pytest.mark.costly
def test_the_number_of_collections_is_checked(demo):
    assert "must be from 1 to 10000, not 0" in demo("--collections", "0").stderr
