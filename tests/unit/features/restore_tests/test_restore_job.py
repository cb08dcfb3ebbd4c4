"""The job `restore_tests`: collection after collection each night, if a command is set."""

from datetime import timedelta

import pytest
from sqlalchemy import insert, select

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, JobRun
from frepo_core.errors import ConfigurationError
from frepo_core.features.restore_tests.nightly_tests import RestoreFailedError
from frepo_core.plugins import LeaseLost
from frepo_core.services.composition.builtin_jobs import upkeep_jobs


@pytest.fixture
def ini(ini):
    return ini | {"restore_tests.command": "sh -c 'test \"$(cat)\" = sound'"}


def schedule(services):
    return next(job.schedule for job in upkeep_jobs(services) if job.name == "restore_tests")


def test_it_runs_each_night_with_a_command(services):
    assert "30 5 * * *" == schedule(services)


@pytest.fixture
def make(make_collection, push):
    """Make a collection with this version."""

    def make(content):
        collection = make_collection(5)
        push(collection, content)
        return collection

    return make


@pytest.fixture
def outcomes(services):
    """Return the outcome of the last restore test of each collection, by id."""

    def outcomes():
        query = select(Collection.id, Collection.restore_outcome).where(Collection.restore_outcome.is_not(None))
        return {row.id: row.restore_outcome for row in services.database.fetch_rows(query)}

    return outcomes


def test_each_collection_is_tested_once_in_a_run(services, run, make, outcomes):
    collections = [make(b"sound") for _ in range(3)]

    assert {"good": 3, "untestable": 0, "left": 0, "size": 15}.items() <= run("restore_tests").items()

    assert dict.fromkeys(collections, "good") == outcomes()
    (check,) = services.version_checks.of_collection(collections[1])
    assert ("restore", "system:restore_tests") == (check.name, check.actor)


def test_it_says_how_far_it_is(run, make):
    collections = [make(content) for content in (b"sound", b"unsound", b"sound")]

    with pytest.raises(RestoreFailedError):
        run("restore_tests")

    first, second, third = collections
    assert [
        f"0 of 3 collections, now dump.sql ({first})",
        f"1 of 3 collections, now dump.sql ({second})",
        f"2 of 3 collections, 1 of them not restored, now dump.sql ({third})",
    ] == run.notes


def test_versions_that_cannot_be_restored_are_a_failure_of_the_job_at_its_end(run, make, outcomes):
    collection, other = make(b"unsound"), make(b"sound")

    with pytest.raises(
        RestoreFailedError,
        match=f"^1 of 2 collections could not be restored. Collection {collection}, version v1: .*exit status 1",
    ):
        run("restore_tests")

    assert {collection: "broken", other: "good"} == outcomes()


def test_without_versions_nothing_is_tested(run, make_collection):
    make_collection(5)

    assert {"good": 0, "untestable": 0, "left": 0, "size": 0, "seconds": 0.0} == run("restore_tests")


def test_it_ends_when_it_must_stop_and_goes_on_with_the_others(run, make, outcomes):
    first, second = make(b"sound"), make(b"sound")

    def lost():
        if first in outcomes():
            raise LeaseLost("the process stops")

    run.check = lost
    with pytest.raises(LeaseLost):
        run("restore_tests")
    assert {first: "good"} == outcomes()

    run.check = lambda: None
    assert 1 == run("restore_tests")["good"]
    assert {first: "good", second: "good"} == outcomes()


class TestTheWindow:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"restore_tests.command": "sh -c 'cat > /dev/null; sleep 0.7'", "restore_tests.window": "1s"}

    @pytest.fixture
    def interrupt(self, services):
        """Record an interrupted run that began at a time."""

        def interrupt(at):
            times = {"started_at": at, "ended_at": at, "outcome": "interrupted"}
            run = {"name": "restore_tests", "lane": "long", "epoch": 1, "holder": "a", "cause": "schedule"}
            services.database.write(lambda session: session.execute(insert(JobRun), [run | times]))

        return interrupt

    @pytest.mark.slow
    def test_no_test_begins_after_its_end_and_the_next_night_goes_on(self, run, make, outcomes):
        collections = [make(b"sound") for _ in range(4)]

        summary = run("restore_tests")

        done = summary["good"]
        assert done in {1, 2}
        assert 4 - done == summary["left"]
        assert dict.fromkeys(collections[:done], "good") == outcomes()
        run("restore_tests")
        assert set(collections[done : done + 1]) <= outcomes().keys()

    def test_a_run_that_was_interrupted_is_continued_until_its_own_end(self, run, make, interrupt, outcomes):
        make(b"sound")
        now = utc_now()
        interrupt(now - timedelta(seconds=1))
        interrupt(now - timedelta(seconds=0.5))

        assert 1 == run("restore_tests", now=now)["left"]

        assert {} == outcomes()
        assert 0 == run("restore_tests", now=now + timedelta(seconds=2))["left"]


@pytest.mark.costly
def test_a_machine_that_is_down_condemns_no_fleet(run, make, outcomes):
    collections = [make(b"unsound") for _ in range(5)]
    later = make(b"sound")

    with pytest.raises(RestoreFailedError, match="^Is the machine down .* 5 of 6 collections .*too many"):
        run("restore_tests")

    found = [outcomes()[one] for one in (*collections, later)]
    assert [*["broken"] * 3, *["not checked"] * 2, "good"] == found


def test_the_newest_good_version_is_tested(services, run, make, push, outcomes):
    collection = make(b"sound")
    push(collection, b"unsound")

    with pytest.raises(RestoreFailedError, match="version v2"):
        run("restore_tests")
    run("restore_tests")

    tested = {one.version_number: one.outcome for one in services.version_checks.of_collection(collection)}
    assert {1: "good", 2: "broken"} == tested
    assert {collection: "good"} == outcomes()


class TestAMissingProgram:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"restore_tests.command": "no-such-program -x"}

    def test_the_job_ends_at_once_because_no_test_can_begin(self, run, make, outcomes):
        first, _ = make(b"sound"), make(b"sound")

        with pytest.raises(RestoreFailedError, match="^1 of 1 collections .*'no-such-program' cannot be started"):
            run("restore_tests")

        assert {first: "not checked"} == outcomes()


class TestWithoutACommand:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"restore_tests.command": ""}

    def test_it_is_off_and_a_run_on_request_says_what_to_set(self, services, run, push, make_collection):
        push(make_collection(5), b"sound")

        assert "off" == schedule(services)
        with pytest.raises(ConfigurationError, match="RESTORE_TESTS_COMMAND"):
            run("restore_tests")


def test_wrong_settings_stop_the_start(open_services, tmp_path, ini):
    for name, value, said in [
        ("command", "gunzip 'x", "quoted as in a shell"),
        ("timeout", "0", "greater than"),
        ("timeout", "soon", "30m"),
        ("window", "0", "greater than"),
        ("every", "monthly", "30m"),
    ]:
        with pytest.raises(ConfigurationError, match=f"restore_tests.{name}.*{said}"):
            open_services(tmp_path, ini | {f"restore_tests.{name}": value})
