"""The command `backup:test-restore`."""

import gzip
import json
from io import BytesIO

import pytest

from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.services.backups.collections.collections import CollectionChange
from frepo_core.services.content.ingest import Incoming


@pytest.fixture
def database_url(console):
    return f"sqlite:///{console.database}"


@pytest.fixture
def ini(ini, console):
    return ini | {"fs.local.directory": str(console.folder / "storage")}


@pytest.fixture
def collection(services, console, make_token):
    """A collection with two versions; the second is cut."""
    console.answer("db:upgrade")
    by = services.tokens.look_up(make_token(Role.ADMINISTRATOR))
    made = services.collections.create(CollectionChange(limits={COUNT: 5}, filename="db.sql.gz"), by=by)
    whole = gzip.compress(b"SELECT 1;" * 1000)
    for content in (whole, whole[:-5]):
        services.add_version.add(made, Incoming(stream=BytesIO(content)), by=by)
    return made.id


def report_of(console, collection, *options):
    """Run the command; return its exit status and its report."""
    done = console.run("backup:test-restore", collection, "-f", "json", *options)
    return done.returncode, json.loads(done.stdout)


def test_a_version_that_can_be_restored_ends_with_0(console, collection):
    status, report = report_of(console, collection, "--version", "v1", "--command", "gunzip -t")

    assert (0, "good", "v1") == (status, report["outcome"], report["version"])


def test_a_version_that_cannot_ends_with_1_and_is_recorded(console, collection):
    status, report = report_of(console, collection, "--command", "gunzip -t")

    assert (1, "broken", "v2") == (status, report["outcome"], report["version"])
    assert "unexpected end of file" in report["output"]
    (check,) = json.loads(console.answer("backup:checks", collection, "v2", "-f", "json"))
    assert ("restore", "broken") == (check["Check"], check["Outcome"])


def test_the_command_of_the_settings_is_the_default(console, collection):
    done = console.run("backup:test-restore", collection, "--version", "v1", RESTORE_TESTS_COMMAND="gunzip -t")

    assert 0 == done.returncode


def test_the_time_limit_can_be_chosen(console, collection):
    status, report = report_of(console, collection, "--command", "sleep 60", "--timeout", "1s")

    assert (1, "not checked") == (status, report["outcome"])


def test_what_cannot_be_run_is_refused(console, collection):
    for options, said in [
        ([], "RESTORE_TESTS_COMMAND"),
        (["--command", "cat", "--timeout", "soon"], "'soon' is not a duration"),
        (["--command", "cat", "--timeout", "0"], "must be longer than 0"),
        (["--command", "cat", "--version", "v7"], "has no version 'v7'"),
    ]:
        assert said in console.refusal("backup:test-restore", collection, *options)
