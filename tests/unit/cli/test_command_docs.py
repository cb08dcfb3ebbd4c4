import contextlib
import gzip
import re
import shlex
import shutil
import sqlite3
from functools import cache
from importlib.metadata import entry_points

import pytest
from cliff.show import ShowOne

from frepo_core.cli.app import FrepoApp
from frepo_core.cli.tables import ListCommand
from support.paths import ROOT

SECTIONS = dict(
    re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", (ROOT / "docs/commands.md").read_text(), re.MULTILINE | re.DOTALL)
)
COMMANDS = {entry.name: entry for entry in entry_points(group="frepo.commands") if entry.dist.name == "frepo-core"}
ID = "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001"  # the collection of the examples
OURS = [name for name in COMMANDS if name != "plugins"]


class Bare(ShowOne):
    """A command that has only the options of every report."""

    def take_action(self, arguments):
        raise AssertionError


class BareList(ListCommand):
    """A command that has only the options of every list; the top of the page explains them."""

    long = frozenset({"Id"})

    def take_action(self, arguments):
        raise AssertionError


def prepare(console, example):
    """Make what an example uses besides a collection with a version: its file, its token."""
    name, *arguments = example.split()
    if name == "backup:release" and ID in arguments:
        (console.folder / "db.sql.gz").write_bytes(b"a")  # it shrank, so it is quarantined
        console.answer("backup:upload", ID, "db.sql.gz")
    if name in {"backup:restore-version", "backup:empty-trash"}:
        console.answer("backup:delete-version", ID, "v1", "--yes")
    if name in {"backup:restore-collection", "backup:end-deleted-collection"}:
        console.answer("backup:delete-collection", ID, "--with-versions", "--yes")
    if example in {"status", "doctor"}:  # its exit status is 1 if no worker leads
        console.answer("jobs")
        lead(console)
    if name == "recover":
        console.answer("jobs:run", "catalogue")
        shutil.copy(console.folder / "secrets.json", console.folder / "safe.txt")
        console.database.unlink()
    if name in {"storage:mirror", "storage:promote", "storage:resilver"}:
        offsite = {"ADAPTER": "local", "DIRECTORY": str(console.folder / "offsite")}
        console.environment |= {f"STORAGE_OFFSITE_{setting}": value for setting, value in offsite.items()}
        console.environment |= {"STORAGES": "offsite", "MIRROR": "offsite"}
    if name == "apply":
        (console.folder / "fleet.yaml").write_text(re.findall("```yaml\n(.*?)```", SECTIONS[name], re.DOTALL)[0])
    if name == "fleet:create":
        (console.folder / "hosts.csv").write_text(re.findall("```csv\n(.*?)```", SECTIONS[name], re.DOTALL)[0])
    if name.startswith(("file:", "alias:")):
        (console.folder / "holiday.txt").write_text("hello")
        if name != "file:upload":
            console.answer("file:upload", "holiday.txt")
    if "notify_ops" in arguments:
        make_subscription(console, "notify_ops")
    if name == "alias:delete":
        console.answer("alias:set", "manual.txt", "2cf24dba5fholiday.txt")
    if name == "enrolment:revoke":
        make_code(console, *arguments)
    if name == "auth:show" and "db7" in arguments:
        console.answer("auth:create-token", "--roles", "upload.all", "--name", "db7")
    for fingerprint in re.findall("3f9c2a71d0be", example):
        make_token(console, fingerprint)


def make_token(console, fingerprint):
    """Make a token with the fingerprint that an example uses."""
    console.answer("auth:create-token", "--roles", "upload.all")
    with contextlib.closing(sqlite3.connect(console.database)) as database, database:
        database.execute("UPDATE token SET fingerprint = ?", [fingerprint])


def make_code(console, code_id):
    """Make a one-time code with the id that an example uses."""
    (console.folder / "hosts.csv").write_text("name\ndb7\n")
    console.answer("fleet:create", "--from", "hosts.csv", "--codes")
    with contextlib.closing(sqlite3.connect(console.database)) as database, database:
        database.execute("DELETE FROM enrolment_collection")
        database.execute("UPDATE enrolment_code SET id = ?", [code_id])


def lead(console):
    with contextlib.closing(sqlite3.connect(console.database)) as database, database:
        database.execute("INSERT INTO lease VALUES ('worker', 'a', 1, 1, '2999-01-01 00:00:00.000000')")


def make_subscription(console, name):
    """Make a subscription with the name that an example uses."""
    console.answer("jobs")  # creates the database
    with contextlib.closing(sqlite3.connect(console.database)) as database, database:
        columns = "(name, position, epoch, tries, created_at)"
        database.execute(f"INSERT INTO subscription {columns} VALUES (?, 0, 0, 0, '2026-05-01')", [name])


@cache
def all_options(command, name):
    parser = command(FrepoApp(), None).get_parser(name)
    return {option for action in parser._actions for option in action.option_strings}


def options(name):
    return all_options(COMMANDS[name].load(), name) - all_options(Bare, name) - all_options(BareList, name)


def examples(name):
    """Yield the commands of a section, without pipes."""
    for block in re.findall(r"```sh\n(.*?)```", SECTIONS[name], re.DOTALL):
        yield from re.findall(r"frepo (?:-v )?([a-z].*?)(?: [<|] .*|\))?$", block, re.MULTILINE)


def explained(name):
    return set(re.findall(r"(?<=[`\s])--?[a-z][a-z-]*", SECTIONS[name]))


def tabled(name):
    return set(re.findall(r"--[a-z-]+", " ".join(re.findall(r"^\| (.*?) \|", SECTIONS[name], re.MULTILINE))))


def test_each_command_has_a_paragraph_and_an_example():
    assert COMMANDS.keys() <= SECTIONS.keys()
    assert [] == [name for name in COMMANDS if not re.search(rf"frepo (-v )?{name}", SECTIONS[name])]


@pytest.mark.costly
def test_each_option_is_explained_and_no_other():
    assert [] == [(name, missing) for name in OURS if (missing := options(name) - explained(name))]
    assert [] == [(name, unknown) for name in OURS if (unknown := tabled(name) - options(name))]


@pytest.fixture(scope="module")
def backup(make_console):
    """A folder with a collection of one version, for the examples that name it."""
    console = make_console()
    console.answer("backup:create-collection", "-f", "db.sql.gz", "--id", ID)
    (console.folder / "db.sql.gz").write_bytes(gzip.compress(b"a dump"))
    console.answer("backup:upload", ID, "db.sql.gz")
    return console.folder


@pytest.mark.costly
@pytest.mark.parametrize(
    "group", sorted({name.partition(":")[0] for name in COMMANDS} - {"serve", "worker"})
)  # endless
def test_each_example_runs(make_console, backup, group):
    names = [name for name in COMMANDS if name.partition(":")[0] == group]
    for example in (example for name in names for example in examples(name)):
        console = make_console()
        if ID in example and not example.startswith("backup:create-collection"):
            shutil.copytree(backup, console.folder, dirs_exist_ok=True)
        prepare(console, example)

        console.answer(*shlex.split(example, comments=True), stdin="a-password-5ecre7\n")
