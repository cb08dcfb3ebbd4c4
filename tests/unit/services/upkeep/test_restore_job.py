"""The job `restore_tests`: one collection each night, if a command is set."""

import pytest

from frepo_core.errors import ConfigurationError
from frepo_core.plugins import LeaseLost
from frepo_core.services.backups.restore import RestoreFailedError
from frepo_core.services.composition.builtin_jobs import upkeep_jobs


@pytest.fixture
def ini(ini):
    return ini | {"restore_tests.command": "sh -c 'test \"$(cat)\" = sound'"}


def schedule(services):
    return next(job.schedule for job in upkeep_jobs(services) if job.name == "restore_tests")


def test_it_runs_each_night_with_a_command(services):
    assert "30 5 * * *" == schedule(services)


def test_one_collection_is_tested_in_each_run(services, run, push, make_collection):
    collections = [make_collection(5) for _ in range(2)]
    for collection in collections:
        push(collection, b"sound")

    summaries = [run("restore_tests") for _ in range(3)]

    assert [*collections, collections[0]] == [summary["collection"] for summary in summaries]
    assert {"version": 1, "outcome": "good", "size": 5}.items() <= summaries[0].items()
    (check,) = services.version_checks.of_collection(collections[1])
    assert ("restore", "system:restore_tests") == (check.name, check.actor)


def test_a_version_that_cannot_be_restored_is_a_failure_of_the_job(services, run, push, make_collection):
    collection = make_collection(5)
    push(collection, b"unsound")

    with pytest.raises(RestoreFailedError, match=f"{collection}, version v1: .*exit status 1"):
        run("restore_tests")

    assert ["broken"] == [check.outcome for check in services.version_checks.of_collection(collection)]


def test_without_versions_nothing_is_tested(run):
    assert {"skipped": "no collection has a version"} == run("restore_tests")


def test_the_job_ends_when_it_must_stop(services, run, push, make_collection):
    collection = make_collection(5)
    push(collection, b"sound")

    def lost():
        raise LeaseLost("the process stops")

    run.check = lost
    with pytest.raises(LeaseLost):
        run("restore_tests")

    assert [] == services.version_checks.of_collection(collection)


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
    ]:
        with pytest.raises(ConfigurationError, match=f"restore_tests.{name}.*{said}"):
            open_services(tmp_path, ini | {f"restore_tests.{name}": value})
