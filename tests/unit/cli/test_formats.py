"""Each command in each format: valid for programs, and the same data in all of them.

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

from frepo_core import assemble
from frepo_core.cli.app import FrepoApp

ID = "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001"
TOKEN = "3f9c2a71d0be"
FORMATS = ("json", "table", "csv", "yaml", "value")
COMMANDS = {
    entry.name: entry.load() for entry in entry_points(group="frepo.commands") if entry.dist.name == "frepo-core"
}
# They write a file in a format of their own.
WRITES_FILES = {"report"}
# They prepare the service, or run it: a person reads what they print.
FOR_PEOPLE = {
    "db:upgrade",
    "install",
    "recover",
    "secrets:accept-new-phrase",
    "storage:adopt",
    "storage:promote",
    "serve",
    "worker",
}
# They need a second storage. They print with the same class as `storage:sweep`.
LEFT_OUT = {"storage:migrate", "storage:mirror", "storage:resilver"}
# Columns that a table has only if `-c` names them, so that it fits on a terminal.
NOT_IN_TABLES = {"plugins": {"Entry point", "Version"}}
DELETED = ID.replace("1d1f", "2d1f")
ENDED = ID.replace("1d1f", "3d1f")
EMPTY = ID.replace("1d1f", "4d1f")
CODE = "5b0c7f0e-5a0f-4c39-9a43-1f0f7c1d2a11"
ARGUMENTS = {
    "alias:list": "",
    "alias:set": "other.txt {file}",
    "apply": "fleet.yaml --dry-run",
    "auth:create-token": "--roles upload.all",
    "auth:edit": f"{TOKEN} --name db8",
    "auth:generate-admin-token": "",
    "auth:list": "",
    "auth:show": TOKEN,
    "backup:checks": f"{ID} v1",
    "backup:create-collection": "--filename b.sql --token-name db9",
    "backup:deleted-collections": "",
    "backup:download": ID,
    "backup:edit": f"{ID} --description nightly",
    "backup:grant": f"{ID} {TOKEN}",
    "backup:list": "",
    "backup:note": f"{ID} v1 'a \"quoted\" note'",
    "backup:hold": f"{EMPTY} --reason audit",
    "backup:holds": "",
    "backup:end-hold": f"{EMPTY} --yes",
    "backup:lock": f"{EMPTY} 30d --yes",
    "backup:pin": f"{ID} v1",
    "backup:pins": "",
    "backup:preview": ID,
    "backup:runs": ID,
    "backup:show": ID,
    "backup:status": ID,
    "backup:restore-engine": ID,
    "backup:test-restore": f"{ID} --command cat",
    "backup:trash": ID,
    "backup:upload": f"{ID} dump.sql",
    "backup:versions": ID,
    "compact": "--dry-run",
    "doctor": "",
    "enrolment:list": "",
    "events": "",
    "events:parked": "",
    "events:retry": "--all",
    "events:subscriptions": "",
    "file:download": "{file} --output copy.sql",
    "file:list": "",
    "file:show": "{file}",
    "file:upload": "dump.sql",
    "fleet:create": "--from hosts.csv --tokens tokens.csv",
    "jobs": "",
    "jobs:run": "samples",
    "plugins": "",
    "status": "",
    "restore": "",
    "storage:check": "",
    "storage:sweep": "",
    "storage:usage": "",
    "storage:verify": "",
    "storages": "",
    # These come last, because they remove what the others show.
    "enrolment:revoke": CODE,
    "backup:unpin": f"{ID} v1",
    "backup:release": f"{ID} v4",
    "backup:restore-collection": DELETED,
    "backup:restore-version": f"{ID} v2",
    "backup:revoke": f"{ID} {TOKEN}",
    "auth:rotate": TOKEN,
    "alias:delete": "logo",
    "auth:clear-expired-tokens": "",
    "auth:revoke": TOKEN,
    "backup:delete-collection": f"{EMPTY} --yes",
    "backup:delete-version": f"{ID} v3 --yes",
    "backup:empty-trash": f"{ID} v3 --yes",
    "backup:end-deleted-collection": f"{ENDED} --yes",
    "events:unsubscribe": "gone",
    "file:delete": "{file} --yes",
}


@pytest.fixture
def filled(console, monkeypatch):
    """A console with at least one row for each command; return the stored name of its file."""
    (console.folder / "hosts.csv").write_text("name\ndb1\n")
    fleet = "frepo_fleet: 1\ncollections: {new: {name: new.sql, description: 'a, b'}}\n"
    (console.folder / "fleet.yaml").write_text(fleet)
    for number, content in enumerate((b"first", b"second", b"third", b"4")):  # the fourth is quarantined: it shrank
        (console.folder / "dump.sql").write_bytes(content)
        if number == 0:
            console.answer("backup:create-collection", "-f", "żółw.sql", "--id", ID, "--description", "x,\n\"y\" 'ż'")
        console.answer("backup:upload", ID, "dump.sql")
    console.answer("backup:delete-version", ID, "v2", "--yes")
    console.answer("backup:test-restore", ID, "--command", "cat")
    for each in (DELETED, ENDED, EMPTY):
        console.answer("backup:create-collection", "-f", "gone.sql", "--id", each)
    for each in (DELETED, ENDED):
        console.answer("backup:delete-collection", each, "--yes")
    console.answer("auth:create-token", "--roles", "upload.all", "--name", "db7")
    file = json.loads(console.answer("file:upload", "dump.sql", "-f", "json"))["name"]
    console.answer("alias:set", "logo", file)
    console.answer("fleet:create", "--from", "hosts.csv", "--codes")
    with contextlib.closing(sqlite3.connect(console.database)) as database, database:
        database.execute("DELETE FROM enrolment_collection")
        database.execute("UPDATE enrolment_code SET id = ?", [CODE])
        database.execute("UPDATE token SET fingerprint = ?", [TOKEN])
        columns = "roles, tags, mimes, max_file_size, user_agents, ip_addresses, created_at"
        values = "'expired', '5c1e9a7740d2', '2026-05-01', "
        database.execute(
            f"INSERT INTO token (key, fingerprint, expires_at, {columns}) SELECT {values} {columns} FROM token"
        )
        database.execute("UPDATE event SET position = id")
        columns = "(incarnation, at, outcome, reason, exit_statuses, error_output, host, client, actor)"
        values = "'2026-05-01', 'failed', 'no, \"disk\"', '[1, 0]', 'one\ntwo', 'db7', 'curl', '5c1e9a7740d2'"
        database.execute(f"INSERT INTO run {columns} SELECT incarnation, {values} FROM collection WHERE id = '{ID}'")
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
    app = FrepoApp(assemble)
    app.options = argparse.Namespace(ini=None, verbose_level=1, debug=False)
    command = COMMANDS[name](app, app.options)
    parser = command.get_parser(f"frepo {name}")
    columns, data = command.take_action(parser.parse_args(arguments))
    data = [tuple(row) for row in data] if isinstance(command, Lister) else tuple(data)
    command.take_action = lambda _: (columns, data)
    printed = {}
    for name_of_format in FORMATS:
        app.stdout = io.StringIO()
        command.run(parser.parse_args([*arguments, "--format", name_of_format]))
        printed[name_of_format] = app.stdout.getvalue()
    return list(columns), printed


def test_each_command_has_the_formats():
    parsers = {name: kind(FrepoApp(), None).get_parser(name) for name, kind in COMMANDS.items()}
    options = {name: parser._option_string_actions.get("--format") for name, parser in parsers.items()}

    assert FOR_PEOPLE == {name for name, option in options.items() if option is None}
    assert WRITES_FILES == {name for name, option in options.items() if option and "html" in option.choices}
    others = [option for name, option in options.items() if option and name not in WRITES_FILES]
    assert all(set(FORMATS) <= set(option.choices) for option in others)
    # The mission's option for the file name is -f.
    short = {name for name, option in options.items() if option and "-f" not in option.option_strings}
    assert {"backup:create-collection"} == short


def test_the_arguments_name_each_command():
    assert COMMANDS.keys() - (FOR_PEOPLE | WRITES_FILES) - LEFT_OUT == ARGUMENTS.keys()


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_each_command_prints_the_same_in_each_format(filled):
    for name, arguments in ARGUMENTS.items():
        columns, printed = outputs(name, shlex.split(arguments.format(file=filled)))
        read = json.loads(printed["json"])
        rows = read if issubclass(COMMANDS[name], Lister) else [read]
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
        hidden = NOT_IN_TABLES.get(name, getattr(COMMANDS[name], "long", ()))
        titles = [column for column in columns if column not in hidden][:6] if is_list else ["Field", "Value"]
        assert titles == [cell.strip() for cell in table[1].strip("|").split("|")], name
