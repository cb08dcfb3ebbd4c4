"""Commands that print rows: one base for all, so that no CSV has `None` in the place of a missing value."""

from importlib.metadata import entry_points

import pytest
from cliff.lister import Lister
from cliff.show import ShowOne

from frepo_core.cli.columns import Moment, Report, Words
from frepo_core.cli.tables import ListCommand, ShowCommand, plain, readable

# It needs no ini file, so it is no FrepoCommand. It has no null.
EXCEPTIONS = {"plugins"}
ID = "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001"


def test_all_commands_that_print_rows_have_the_base_for_it():
    commands = {entry.name: entry.load() for entry in entry_points(group="frepo.commands") if "core" in entry.dist.name}

    printing = {name: kind for name, kind in commands.items() if issubclass(kind, (Lister, ShowOne))}
    assert {"auth:list", "jobs", "events", "backup:checks"} <= printing.keys()
    assert {name for name, kind in printing.items() if not issubclass(kind, (ListCommand, ShowCommand))} == EXCEPTIONS


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (None, ""),
        (Moment(None), ""),
        (Words(["a", "b"]), "a, b"),
        (Report({"error": "x"}), '{"error": "x"}'),
        (7, 7),
    ],
)
def test_a_cell_for_a_format_without_null_and_lists(cell, expected):
    assert expected == plain(cell)


@pytest.mark.parametrize("cell", [None, Moment(None)])
def test_what_is_missing_is_empty_in_a_table(cell):
    assert "" == readable(cell)


def test_a_token_that_was_never_used_has_an_empty_cell(console):
    console.answer("auth:create-token", "--roles", "upload.all", "--name", "db7")

    assert '"db7"' in console.answer("auth:list", "-f", "csv")
    for output in (["-f", "csv"], []):
        assert "None" not in console.answer("auth:list", *output)


def test_a_job_that_never_ran_has_empty_cells(console):
    assert "None" not in console.answer("jobs", "-f", "csv")


def test_a_table_shows_control_characters_instead_of_sending_them_to_the_terminal(console):
    text = "night\x1b[2J\x07\x9b31m\u202egz.lqs\nsecond line, żółw 👩\u200d👧"
    console.answer("backup:create-collection", "-f", "db.sql", "-d", text, "--id", ID)

    for command in (["backup:list"], ["backup:show", ID]):
        table = console.answer(*command)
        assert "night\\x1b[2J\\x07\\x9b31m\\u202egz.lqs" in table
        assert "second line, żółw 👩\u200d👧" in table
        assert not set("\x1b\x07\x9b\u202e") & set(table)
    assert text == console.answer("backup:show", ID, "-f", "value", "-c", "description")
