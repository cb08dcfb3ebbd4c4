"""Uploads of broken backups through the API, and the job that finishes the checks of large ones."""

import threading
import time
from datetime import timedelta

import pytest
from sqlalchemy import select

from frepo_core.db import utc_now
from frepo_core.db.models import Event
from frepo_core.errors import ConfigurationError
from frepo_core.plugins import JobContext, LeaseLost
from frepo_core.services.container import assemble
from frepo_core.testing import FaultyStorage
from frepo_core.testing.faulty import Fail
from frepo_integrity import deep_check, inspection
from support.client import Client
from support.compressors import COMPRESSORS, rows, tar_of, zip_of

WHOLE = COMPRESSORS["gzip"]["gzip"](rows(20_000))
CUT = WHOLE[: len(WHOLE) // 2]


@pytest.fixture
def settings():
    return {}


@pytest.fixture
def ini(ini, settings):
    return ini | settings


@pytest.fixture
def root(app, admin):
    return Client(app, admin)


@pytest.fixture
def collection(root):
    return root.create(filename="db.sql.gz", maxBackupsCount=50).json["collection"]["id"]


@pytest.fixture
def results(services, collection):
    """The results of the checks of the collection's versions, without their times."""
    return lambda: [
        (one.version_number, one.outcome, one.details) for one in services.version_checks.of_collection(collection)
    ]


@pytest.fixture
def events(services):
    """The outcomes in the events about checks, with the actor's kind."""

    def events():
        with services.database.reading() as session:
            found = session.scalars(select(Event).where(Event.kind == "version.checked").order_by(Event.id))
            return [(row.version_number, row.data["outcome"], row.actor.partition(":")[0]) for row in found]

    return events


@pytest.fixture
def run_job(services):
    """Run the job as the worker does; return its summary."""

    def run_job(now=None, check_lease=lambda: None):
        own = services.contexts["integrity"]
        context = JobContext(
            settings=own.settings,
            service=own.service,
            log=own.log,
            now=now or utc_now(),
            check_lease=check_lease,
            progress=lambda text: None,
        )
        return deep_check.run(context)

    return run_job


def with_setting(**values):
    named = {f"integrity.{name}": value for name, value in values.items()}
    return pytest.mark.parametrize("settings", [named], ids=["-".join(values.values())])


def test_a_cut_gzip_is_marked_and_accepted(root, collection, results, events):
    assert 200 == root.push(collection, CUT).status_int

    assert [(1, "broken", {"kind": "gzip", "kinds": ["gzip"]})] == results()
    ((number, outcome, _),) = events()
    assert (1, "broken") == (number, outcome)


def test_a_whole_one_is_good_and_an_unknown_one_is_not_checked(root, collection, results):
    for content in (WHOLE, b"any text", tar_of(rows(3000)), zip_of(rows(3000))):
        root.push(collection, content)

    assert [
        (1, "good", {"kinds": ["gzip"]}),
        (2, "not checked", {"kinds": []}),
        (3, "good", {"kinds": ["tar"]}),
        (4, "good", {"kinds": ["zip"]}),
    ] == results()


def test_files_outside_collections_are_not_checked(root, services):
    answer = root.upload(CUT, name="a.sql.gz")

    assert 200 == answer.status_int


@with_setting(gzip="refuse")
def test_a_cut_gzip_is_refused_if_the_setting_says_so(root, collection, results):
    answer = root.push(collection, CUT)

    assert (400, 4017) == (answer.status_int, answer.json["error_code"])
    assert "The check integrity found the content broken: The gzip data ends too early" in answer.json["message"]
    assert [] == results()
    assert 200 == root.push(collection, WHOLE).status_int
    assert 200 == root.push(collection, COMPRESSORS["xz"]["xz"](rows(9000))[:-50]).status_int


@with_setting(sql="refuse")
def test_the_kind_that_is_broken_decides(root, collection):
    """A whole gzip of a cut dump is broken as a dump; a cut gzip of one is broken as gzip."""
    dump = b"-- MySQL dump 10.13  Distrib\n" + rows(5000)
    pack = COMPRESSORS["gzip"]["gzip"]

    assert 400 == root.push(collection, pack(dump)).status_int
    assert 200 == root.push(collection, pack(dump)[:-5]).status_int
    assert 200 == root.push(collection, pack(dump + b"-- Dump completed\n")).status_int


@with_setting(gzip="off", tar="off")
def test_a_kind_that_is_off_is_not_checked(root, collection, results):
    root.push(collection, CUT)

    assert [(1, "not checked", {"kinds": ["gzip"]})] == results()


@with_setting(**{kind: "off" for kind in ("gzip", "bzip2", "xz", "zstd", "lz4", "zip", "tar", "sql")})
def test_nothing_is_recorded_if_all_kinds_are_off(root, collection, results):
    root.push(collection, CUT)

    assert [] == results()


@pytest.mark.parametrize("name", ["gzip", "sql"])
def test_quarantine_stops_the_start_until_there_is_one(ini, plugins, name):
    with pytest.raises(ConfigurationError, match=rf"integrity\.{name} \(INTEGRITY_{name.upper()}\).*cannot be quar"):
        assemble(ini | {f"integrity.{name}": "quarantine"}, {}, plugins)


class TestLargeContents:
    @pytest.fixture
    def settings(self):
        return {"integrity.inline_limit": "1kB"}

    def test_it_is_pending_then_checked_by_the_job(self, root, collection, results, events, run_job):
        for content in (CUT, WHOLE):
            assert 200 == root.push(collection, content).status_int
        assert [(1, "pending", {"kinds": ["gzip"]}), (2, "pending", {"kinds": ["gzip"]})] == results()
        assert [] == events()

        assert {"broken": 1, "good": 1} == run_job()

        assert [(1, "broken", {"kind": "gzip", "kinds": ["gzip"]}), (2, "good", {"kinds": ["gzip"]})] == results()
        assert [(1, "broken", "system"), (2, "good", "system")] == events()
        assert {} == run_job()

    def test_the_service_has_the_job(self, root, collection, results, services):
        root.push(collection, WHOLE)

        result = services.jobs.run("integrity_deep", cause="console")

        assert ("good", {"good": 1}) == (result.outcome, result.summary)
        assert ["good"] == [outcome for _, outcome, _ in results()]

    def test_what_its_end_shows_is_found_at_once(self, root, collection, results):
        broken = [
            COMPRESSORS["xz"]["xz"](rows(20_000))[:-100],
            zip_of(rows(20_000))[:-100],
            tar_of(rows(20_000))[:15_000],
            b"-- MySQL dump 10.13  Distrib\n" + rows(20_000),
        ]
        for content in broken:
            root.push(collection, content)

        assert ["broken"] * 4 == [outcome for _, outcome, _ in results()]

    def test_a_version_that_was_deleted_is_left_out(self, root, collection, run_job):
        root.push(collection, WHOLE)
        root.delete(f"/repository/collection/{collection}/backup/v1")

        assert {} == run_job()

    def test_an_unreadable_content_delays_no_other(self, root, collection, results, run_job, services, caplog):
        for content in (WHOLE, CUT):
            root.push(collection, content)
        backend = services.backends.get("local")
        services.backends._built["local"] = FaultyStorage(backend, Fail("open"))

        assert {"unreadable": 1, "broken": 1} == run_job()
        assert ["pending", "broken"] == [outcome for _, outcome, _ in results()]
        assert "cannot be checked now" in caplog.text

        assert {"good": 1} == run_job()

    def test_an_unreadable_content_is_given_up_after_a_day(self, root, collection, results, run_job, services):
        root.push(collection, WHOLE)
        services.backends._built["local"] = FaultyStorage(services.backends.get("local"), Fail("open", nth=0))

        assert {"unreadable": 1} == run_job(now=utc_now() + timedelta(hours=23))
        assert {"not checked": 1} == run_job(now=utc_now() + timedelta(hours=25))
        assert ["not checked"] == [outcome for _, outcome, _ in results()]

    def test_the_job_ends_when_another_worker_leads(self, root, collection, results, run_job):
        root.push(collection, WHOLE)

        def lost():
            raise LeaseLost

        with pytest.raises(LeaseLost):
            run_job(check_lease=lost)
        assert ["pending"] == [outcome for _, outcome, _ in results()]


class TestCommands:
    @pytest.fixture
    def settings(self):
        return {"integrity.command": "magic:CRATE = grep -q whole\nname:*.gz = false"}

    def test_the_job_runs_the_program_for_its_contents(self, root, collection, results, run_job):
        other = root.create(filename="crate").json["collection"]["id"]
        for content in (b"CRATE whole", b"CRATE cut", b"another"):
            root.push(other, content)
        root.push(collection, WHOLE)

        assert {"good": 1, "broken": 2} == run_job()
        assert [(1, "broken", {"kind": "command", "kinds": ["command"]})] == results()

    def test_a_finding_of_the_upload_is_not_run_again(self, root, collection, results):
        root.push(collection, CUT)

        assert ["broken"] == [outcome for _, outcome, _ in results()]


class TestBusyThreads:
    @pytest.fixture
    def settings(self):
        return {"integrity.threads": "1"}

    @pytest.fixture
    def busy(self, root, collection, monkeypatch):
        """An upload whose check is not done before the test ends."""
        entered, may_end = threading.Event(), threading.Event()

        def inspect_first(*arguments):
            if not entered.is_set():
                entered.set()
                may_end.wait(60)
            return inspection.inspect(*arguments)

        monkeypatch.setattr("frepo_integrity.upload_check.inspect", inspect_first)
        thread = threading.Thread(target=root.push, args=(collection, b"any text"))
        thread.start()
        entered.wait(20)
        yield
        may_end.set()
        thread.join()

    @pytest.mark.usefixtures("busy")
    def test_an_upload_does_not_wait_long_for_others(self, root, collection, results, run_job):
        started = time.monotonic()

        assert 200 == root.push(collection, WHOLE).status_int

        assert time.monotonic() - started < 20
        assert [(1, "pending", {"kinds": []})] == results()
        assert {"good": 1} == run_job()

    @with_setting(inline_seconds="0.2")
    def test_a_content_that_takes_too_long_is_pending(self, root, collection, results, run_job):
        content = COMPRESSORS["bzip2"]["python"](bytes(30_000_000)) * 20
        root.push(collection, content)

        assert [(1, "pending")] == [(number, outcome) for number, outcome, _ in results()]


class TestTimeLimitOfTheJob:
    @pytest.fixture
    def settings(self):
        return {
            "integrity.inline_limit": "1kB",
            "integrity.deep_seconds": "0.001",
            "integrity.command": "magic:CRATE = sleep 60",
        }

    def test_a_version_that_takes_too_long_is_not_checked(self, root, collection, services, run_job):
        root.push(collection, COMPRESSORS["gzip"]["gzip"](bytes(20 << 20)))

        assert {"not checked": 1} == run_job()

        (result,) = services.version_checks.of_collection(collection)
        assert "The check takes longer than 0.001 seconds, see integrity.deep_seconds" == result.message
        assert {} == run_job()

    def test_a_program_gets_the_time_that_is_left(self, root, collection, services, run_job):
        root.push(collection, b"CRATE")

        assert {"not checked": 1} == run_job()

        (result,) = services.version_checks.of_collection(collection)
        assert "sleep took longer than 0" in result.message
