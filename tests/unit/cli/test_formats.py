"""Each command that prints rows or a record, in each format: valid for programs, and the same data in all of them.

The commands run in this process. Each does its work once; what it returns is then printed in each format.
"""

import argparse
import contextlib
import csv
import io
import json
import shlex
import sqlite3
from importlib.metadata import entry_points

import pytest
import yaml
from cliff.lister import Lister
from cliff.show import ShowOne

from frepo_core.cli.app import FrepoApp

ID = "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001"
TOKEN = "3f9c2a71d0be"
FORMATS = ("json", "table", "csv", "yaml", "value")
COMMANDS = {
    entry.name: entry.load() for entry in entry_points(group="frepo.commands") if entry.dist.name == "frepo-core"
}
PRINTING = {name: kind for name, kind in COMMANDS.items() if issubclass(kind, (Lister, ShowOne))}
# It needs a second storage. It prints with the same class as `storage:sweep`.
LEFT_OUT = {"storage:migrate"}
ARGUMENTS = {
    "alias:list": "",
    "alias:set": "other.txt {file}",
    "auth:edit": f"{TOKEN} --name db8",
    "auth:list": "",
    "auth:show": TOKEN,
    "backup:checks": f"{ID} v1",
    "backup:deleted-collections": "",
    "backup:edit": f"{ID} --description nightly",
    "backup:list": "",
    "backup:preview": ID,
    "backup:show": ID,
    "backup:status": ID,
    "backup:test-restore": f"{ID} --command cat",
    "backup:trash": ID,
    "backup:upload": f"{ID} dump.sql",
    "backup:versions": ID,
    "doctor": "",
    "events": "",
    "events:parked": "",
    "events:retry": "--all",
    "events:subscriptions": "",
    "events:unsubscribe": "gone",
    "file:list": "",
    "file:show": "{file}",
    "file:upload": "dump.sql",
    "fleet:create": "--from hosts.csv",
    "jobs": "",
    "jobs:run": "samples",
    "plugins": "",
    "status": "",
    "storage:rebuild-index": "--dry-run",
    "storage:sweep": "",
    "storage:usage": "",
    "storage:verify": "",
}


@pytest.fixture
def filled(console, monkeypatch):
    """A console with at least one row for each command; return the stored name of its file."""
    (console.folder / "hosts.csv").write_text("name\ndb1\n")
    for number, content in enumerate((b"first", b"second")):
        (console.folder / "dump.sql").write_bytes(content)
        if number == 0:
            console.answer("backup:create-collection", "-f", "żółw.sql", "--id", ID, "--description", "x,\n\"y\" 'ż'")
        console.answer("backup:upload", ID, "dump.sql")
    console.answer("backup:delete-version", ID, "v2", "--yes")
    console.answer("backup:test-restore", ID, "--command", "cat")
    console.answer("backup:create-collection", "-f", "gone.sql", "--id", ID.replace("1d1f", "2d1f"))
    console.answer("backup:delete-collection", ID.replace("1d1f", "2d1f"), "--yes")
    console.answer("auth:create-token", "--roles", "upload.all", "--name", "db7")
    file = json.loads(console.answer("file:upload", "dump.sql", "-f", "json"))["name"]
    console.answer("alias:set", "logo", file)
    with contextlib.closing(sqlite3.connect(console.database)) as database, database:
        database.execute("UPDATE token SET fingerprint = ?", [TOKEN])
        database.execute("UPDATE event SET position = id")
        columns = "(name, position, epoch, tries, created_at)"
        database.execute(f"INSERT INTO subscription {columns} VALUES ('gone', 0, 0, 0, '2026-05-01')")
        columns = "(subscription, event_id, kind, tries, error, parked_at)"
        database.execute(f"INSERT INTO parked_event {columns} VALUES ('gone', 1, 'file.added', 12, '', '2026-05-01')")
    for name, value in console.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(console.folder)
    return file


def outputs(name, arguments):
    """Run a command; return the names of its columns, and its output in each format."""
    app = FrepoApp()
    app.options = argparse.Namespace(ini=None, verbose_level=1, debug=False)
    command = PRINTING[name](app, app.options)
    parser = command.get_parser(f"frepo {name}")
    columns, data = command.take_action(parser.parse_args(arguments))
    data = [tuple(row) for row in data] if isinstance(command, Lister) else tuple(data)
    command.take_action = lambda _: (columns, data)
    printed = {}
    for name_of_format in FORMATS:
        app.stdout = io.StringIO()
        command.run(parser.parse_args([*arguments, "-f", name_of_format]))
        printed[name_of_format] = app.stdout.getvalue()
    return list(columns), printed


def test_the_arguments_name_each_command():
    assert PRINTING.keys() - LEFT_OUT == ARGUMENTS.keys()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_each_command_prints_the_same_in_each_format(filled):
    for name, arguments in ARGUMENTS.items():
        columns, printed = outputs(name, shlex.split(arguments.format(file=filled)))
        read = json.loads(printed["json"])
        rows = read if issubclass(PRINTING[name], Lister) else [read]
        is_list = rows is read

        assert rows, name
        assert {tuple(columns)} == {tuple(row) for row in rows}, name
        assert read == yaml.safe_load(printed["yaml"]), name
        header, *lines = csv.reader(io.StringIO(printed["csv"]), strict=True)
        assert (columns, [len(columns)] * len(rows)) == (header, [len(line) for line in lines]), name
        values = printed["value"].splitlines()
        assert len(values) >= (len(rows) if is_list else len(columns)), name
        table = printed["table"].splitlines()
        assert {"+", "|"} == {line[0] for line in table} and 1 == len({len(line) for line in table}), name
        titles = columns if is_list else ["Field", "Value"]
        assert titles == [cell.strip() for cell in table[1].strip("|").split("|")], name
