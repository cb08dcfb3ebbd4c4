import contextlib
import re
import shlex
import sqlite3
from importlib.metadata import entry_points

import pytest
from cliff.lister import Lister
from cliff.show import ShowOne

from frepo_core.cli.app import FrepoApp
from support.paths import ROOT

SECTIONS = dict(
    re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", (ROOT / "docs/console.md").read_text(), re.MULTILINE | re.DOTALL)
)
COMMANDS = {entry.name: entry for entry in entry_points(group="frepo.commands") if entry.dist.name == "frepo-core"}
OURS = [name for name in COMMANDS if name != "plugins"]


class Bare(ShowOne):
    """A command that has only the options of every report."""

    def take_action(self, arguments):
        raise AssertionError


class BareList(Lister):
    """A command that has only the options of every list."""

    def take_action(self, arguments):
        raise AssertionError


def make_token_to_revoke(console, fingerprint):
    """Make a token with the fingerprint that an example uses."""
    console.answer("auth:create-token", "--roles", "upload.all")
    with contextlib.closing(sqlite3.connect(console.database)) as database, database:
        database.execute("UPDATE token SET fingerprint = ?", [fingerprint])


def all_options(command, name):
    parser = command(FrepoApp(), None).get_parser(name)
    return {option for action in parser._actions for option in action.option_strings}


def options(name):
    return all_options(COMMANDS[name].load(), name) - all_options(Bare, name) - all_options(BareList, name)


def examples(name):
    for block in re.findall(r"```sh\n(.*?)```", SECTIONS[name], re.DOTALL):
        yield from re.findall(r"frepo (?:-v )?([a-z].*?)(?: < .*|\))?$", block, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_a_paragraph_and_an_example(name):
    assert f"frepo {name}" in SECTIONS[name] or f"frepo -v {name}" in SECTIONS[name]


@pytest.mark.parametrize("name", OURS)
def test_each_option_is_explained(name):
    explained = set(re.findall(r"(?<=[`\s])--?[a-z][a-z-]*", SECTIONS[name]))

    assert options(name) <= explained


@pytest.mark.parametrize("name", OURS)
def test_every_explained_option_exists(name):
    tabled = set(re.findall(r"--[a-z-]+", " ".join(re.findall(r"^\| (.*?) \|", SECTIONS[name], re.MULTILINE))))

    assert tabled <= options(name)


@pytest.mark.parametrize("example", [example for name in COMMANDS for example in examples(name)])
def test_each_example_runs(console, example):
    if example.startswith("auth:revoke "):
        make_token_to_revoke(console, example.split()[1])

    if example.startswith("backup:checks "):
        console.answer("backup:create-collection", "-f", "db.sql.gz", "--id", example.split()[1])

    console.answer(*shlex.split(example, comments=True), stdin="a-password-5ecre7\n")
