"""Commands that print rows: one base for all, so that no CSV has `None` in the place of a missing value."""

import io
import json
import re
from importlib.metadata import entry_points
from itertools import product
from types import SimpleNamespace

from cliff.lister import Lister
from cliff.show import ShowOne

from frepo_core.cli.columns import Moment, Report, Words
from frepo_core.cli.commands.backup.collections import ListCollections, ShowCollection
from frepo_core.cli.tables import ListCommand, ShowCommand, plain, readable
from frepo_core.features.overview.commands.status import Status

# It needs no ini file, so it is no FrepoCommand. It has no null.
EXCEPTIONS = {"plugins"}
ID = "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001"


def test_all_commands_that_print_rows_have_the_base_for_it():
    commands = {entry.name: entry.load() for entry in entry_points(group="frepo.commands") if "core" in entry.dist.name}

    printing = {name: kind for name, kind in commands.items() if issubclass(kind, (Lister, ShowOne))}
    assert {"auth:list", "jobs", "events", "backup:checks"} <= printing.keys()
    assert {name for name, kind in printing.items() if not issubclass(kind, (ListCommand, ShowCommand))} == EXCEPTIONS


def test_a_cell_for_a_format_without_null_and_lists():
    for cell, expected in [
        (None, ""),
        (Moment(None), ""),
        (Words(["a", "b"]), "a, b"),
        (Report({"error": "x"}), '{"error": "x"}'),
        (7, 7),
        (True, "yes"),
        (False, "no"),
    ]:
        assert expected == plain(cell)


def test_what_is_missing_is_empty_in_a_table():
    for cell in [None, Moment(None)]:
        assert "" == readable(cell)


def test_what_is_so_or_not_is_a_boolean_for_programs_and_a_word_for_people(console):
    console.answer("backup:create-collection", "-f", "db.sql", "--id", ID)
    console.answer("backup:upload", ID, "-", stdin="a dump")
    column = ("backup:versions", ID, "-c", "Pinned")

    assert [{"Pinned": False}] == json.loads(console.answer(*column, "-f", "json"))
    assert ("no", True) == (console.answer(*column, "-f", "value"), "| no " in console.answer(*column))


def test_a_table_without_rows_prints_nothing_that_cron_would_mail(console):
    for command in (["status", "--overdue"], ["backup:list"], ["auth:list"], ["alias:list"]):
        assert "" == console.run(*command).stdout
    assert [] == json.loads(console.answer("backup:list", "-f", "json"))


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_table_without_rows_prints_a_sentence_on_a_terminal():
    command = Status(SimpleNamespace(stdout=Terminal()), None)

    assert 0 == command.produce_output(SimpleNamespace(formatter="table", html=False), ("Name",), [])
    assert "No backup is late or overdue.\n" == command.app.stdout.getvalue()


def test_a_table_has_the_columns_that_fit_and_all_with_long(console):
    console.answer("backup:create-collection", "-f", "db.sql", "--id", ID)
    console.answer("backup:upload", ID, "-", stdin="a dump")

    for command in (["backup:list"], ["backup:versions", ID], ["auth:list"], ["storage:usage"]):
        short = console.answer(*command).splitlines()
        assert all(len(line) <= 100 for line in short), command
        assert not short or ("SHA-256" not in short[1] and " Id " not in short[1])
    assert ID in console.answer("backup:list", "--long")
    assert ID in console.answer("backup:list", "-c", "Id")
    assert ID in console.answer("backup:list", "-f", "value")


def test_a_table_says_on_a_terminal_which_columns_it_leaves_out():
    shown = {}
    for stream in (Terminal(), io.StringIO()):
        command = ListCollections(SimpleNamespace(stdout=stream), None)
        command.take_action = lambda _: (("Name", "Id"), [("db.sql", ID)])
        command.run(command.get_parser("frepo").parse_args([]))
        shown[type(stream)] = stream.getvalue().splitlines()[-1]

    assert ("--long also shows: Id", "+--------+") == (shown[Terminal], shown[io.StringIO])


def test_what_a_record_does_not_have_is_none_on_a_terminal():
    shown = {}
    for stream in (Terminal(), io.StringIO()):
        command = ShowCollection(SimpleNamespace(stdout=stream), None)
        command.take_action = lambda _: (("labels", "due_at"), (Words([]), Moment(None)))
        command.run(command.get_parser("frepo").parse_args([ID]))
        shown[type(stream)] = stream.getvalue()

    assert (2, 0) == (shown[Terminal].count("| none "), shown[io.StringIO].count("none"))


def test_an_empty_cell_of_a_table_is_none_on_a_terminal():
    shown = {}
    for stream in (Terminal(), io.StringIO()):
        command = ListCollections(SimpleNamespace(stdout=stream), None)
        command.take_action = lambda _: (("Name", "Last", "Note"), [("db.sql", Moment(None), ""), ("0", None, 0)])
        command.run(command.get_parser("frepo").parse_args([]))
        shown[type(stream)] = stream.getvalue()

    assert (3, 0) == (shown[Terminal].count("| none "), shown[io.StringIO].count("none"))


def test_a_table_shows_control_characters_instead_of_sending_them_to_the_terminal(console):
    text = "night\x1b[2J\x07\x9b31m\u202egz.lqs\nsecond line, żółw 👩\u200d👧"
    console.answer("backup:create-collection", "-f", "db.sql", "-d", text, "--id", ID)

    for command in (["backup:list", "--long"], ["backup:show", ID]):
        table = console.answer(*command)
        assert "night\\x1b[2J\\x07\\u009b31m\\u202egz.lqs" in table
        assert "second line, żółw 👩\u200d👧" in table
        assert not set("\x1b\x07\x9b\u202e") & set(table)
    (exact,) = json.loads(console.answer("backup:list", "-f", "json", "-c", "Description"))
    assert [text] == list(exact.values())


def test_a_narrow_table_breaks_no_time(console):
    console.answer("backup:create-collection", "-f", "db.sql.gz", "--min-version-size", "1kB", "--id", ID)
    console.answer("backup:upload", ID, "-", stdin="too small: it is put into quarantine")
    console.answer(
        "auth:create-token", "--roles", "upload.all", "--name", "the server of the shop", "--expires", "+30 days"
    )
    console.answer("file:upload", "-", "--name", f"{'holiday' * 5}.tar", "--tag", "beach", stdin="a file")
    console.answer("jobs:run", "samples")
    console.change("UPDATE event SET position = id WHERE position IS NULL")  # numbers events, as the worker does
    columns = {
        "jobs": "Next",
        "auth:list": "Expires",
        "file:list": "Time",
        "events": "Time",
        f"backup:versions {ID}": "Time",
    }

    for (command, column), width in product(columns.items(), (95, 100)):
        lines = console.answer(*command.split(), "--max-width", str(width)).splitlines()
        cells = [line.split("|")[1:-1] for line in lines if line.startswith("|")]
        place = [name.strip() for name in cells[0]].index(column)
        times = [row[place].strip() for row in cells[1:] if row[place].strip()]
        assert all(len(line) <= width for line in lines)
        assert times, lines
        assert all(re.fullmatch(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\dZ?", time) for time in times), "\n".join(lines)
