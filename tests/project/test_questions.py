"""Each command and each call of docs/questions.md exists."""

import re
from importlib.metadata import entry_points

import pytest

from frepo_core.cli.app import FrepoApp
from frepo_core.features.assembly import FEATURES
from frepo_core.web.v1.endpoints import v1_endpoints
from support.paths import ROOT

PAGE = (ROOT / "docs/questions.md").read_text()
COMMANDS = re.findall(r"`frepo ([a-z:-]+)([^`]*)`", PAGE)
CALLS = re.findall(r"`GET (/api/v1[^`?]*)", PAGE)


def without_names(path):
    """Return a path without the names of its placeholders."""
    return re.sub(r"\{[^}]*\}", "{}", path)


def test_each_question_has_an_answer():
    rows = [line.split(" | ") for line in PAGE.splitlines() if line.endswith(" |") and "?" in line]

    assert len(rows) >= 8
    assert [] == [row for row in rows if "`frepo " not in row[1]]


def options(name):
    [entry] = entry_points(group="frepo.commands", name=name)
    parser = entry.load()(FrepoApp(), None).get_parser(name)
    return {option for action in parser._actions for option in action.option_strings}


@pytest.mark.costly
def test_each_command_and_its_options_exist():
    named = [(name, set(re.findall(r"--[a-z-]+", arguments))) for name, arguments in COMMANDS]

    assert named
    assert [] == [(name, unknown) for name, given in named if (unknown := given - options(name))]


def test_each_call_exists():
    found = {without_names(endpoint.path) for endpoint in v1_endpoints(FEATURES) if endpoint.method == "GET"}

    assert CALLS
    assert set() == {without_names(path) for path in CALLS} - found
