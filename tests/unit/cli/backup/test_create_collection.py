import contextlib
import io
import json
import shlex
import sqlite3

import pytest

from frepo_client import cli
from frepo_core import assemble
from frepo_core.cli.app import FrepoApp

ID = "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001"
COLUMNS = "max_backups_count, max_one_version_size, max_collection_size, strategy, description, filename"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def create(console, *options, **more):
    return console.answer("backup:create-collection", *options, **more)


def test_a_created_collection_is_printed_as_its_id(console):
    created = create(console, "-f", "db.sql.gz")

    assert console.rows("SELECT id FROM collection") == [(created,)]


def test_short_options_set_all_fields(console):
    options = ["-d", "night", "-b", "3", "-o", "1GB", "-c", "4GiB", "-s", "alert_when_backup_limit_reached"]

    create(console, *options, "-f", "db.sql.gz")

    expected = (3, 10**9, 4294967296, "alert_when_backup_limit_reached", "night", "db.sql.gz")
    assert console.rows(f"SELECT {COLUMNS} FROM collection") == [expected]


def test_guards_are_set_by_options(console):
    options = ["--min-retention", "7d", "--min-version-size", "1kB", "--max-shrink-percent", "50"]
    options += ["--max-growth-percent", "300", "--expects-kind", "off", "--expects-change", "on"]
    options += ["--max-decline-percent", "20", "--max-unchanged", "7d"]
    create(console, *options, "--on-suspicious", "keep", "-f", "a")
    create(console, "-f", "b")

    columns = "min_retention, min_version_size, max_shrink_percent, guard_action"
    columns += ", max_growth_percent, expects_kind, expects_change, max_decline_percent, max_unchanged"
    assert console.rows(f"SELECT {columns} FROM collection ORDER BY filename") == [
        (604800, 1000, 50, "keep", 300, 0, 1, 20, 604800),
        (0, 0, 50, "quarantine", 0, 1, 0, 0, 0),
    ]


def test_an_invalid_guard_is_refused(console):
    for option, text, message in [
        ("--min-retention", "soon", "write e.g. 30m, 48h, 7d or 2w"),
        ("--min-version-size", "-1", "number_cannot_be_negative_value"),
        ("--max-shrink-percent", "101", "expected_percent_from_0_to_100"),
        ("--max-shrink-percent", "half", "expected_percent_from_0_to_100"),
        ("--max-decline-percent", "101", "expected_percent_from_0_to_100"),
        ("--max-unchanged", "long", "write e.g. 30m, 48h, 7d or 2w"),
        ("--max-growth-percent", "-1", "number_cannot_be_negative_value"),
        ("--expects-kind", "maybe", "expected_on_or_off"),
        ("--on-suspicious", "ignore", "refuse"),
    ]:
        assert message in console.refusal("backup:create-collection", "-f", "a", option, text)


def test_the_help_says_what_is_set_without_the_options(console):
    for command in ["backup:create-collection", "fleet:create"]:
        shown = " ".join(console.answer(command, "--help").split())

        for option, default in {
            "--max-backups-count N": "backup.max_versions",
            "--max-one-version-size SIZE": "backup.one_version_max_size",
            "--max-collection-size SIZE": "backup.collection_max_size",
            "--min-retention TIME": "off",
            "--min-version-size SIZE": "off",
            "--max-shrink-percent N": "50",
            "--max-growth-percent N": "off",
            "--expects-kind on|off": "on",
            "--expects-change on|off": "off",
            "--on-suspicious ACTION": "quarantine",
        }.items():
            assert f"default: {default} " in shown.rpartition(f"{option} ")[2].partition(" --")[0] + " ", option


def test_the_help_of_an_edit_names_no_defaults_of_limits_and_guards(console):
    shown = console.answer("backup:edit", "--help")

    assert "default: 50" not in shown
    assert "default: quarantine" not in shown


def test_the_record_and_the_lines_for_a_shell_say_which_limits_the_collection_got(console):
    made = json.loads(create(console, "-f", "a", "-b", "3", "--format", "json"))
    lines = create(console, "-f", "b", "-c", "0", "--token-name", "db7")

    names = ("max_backups_count", "max_one_version_size", "max_collection_size")
    assert [3, 4_000_000_000, 15_000_000_000] == [made[name] for name in names]
    assert "# The collection keeps any number of versions, each at most 4.00 GB, all together of any size." in lines


def test_the_limits_are_said_on_a_terminal_and_do_not_get_into_the_id(console, monkeypatch):
    monkeypatch.chdir(console.folder)
    for name, value in console.environment.items():
        monkeypatch.setenv(name, value)
    app = FrepoApp(assemble)
    app.stdout, app.stderr = io.StringIO(), Terminal()

    assert 0 == app.run(["backup:create-collection", "-f", "a"])

    assert [(app.stdout.getvalue().strip(),)] == console.rows("SELECT id FROM collection")
    assert "each at most 4.00 GB" in app.stderr.getvalue()


def test_verbose_shows_request_and_answer_but_no_password(console):
    done = console.run("-v", "backup:create-collection", "-f", "a", "-p", "a-password-5ecre7", "--id", ID, "-b", "2")

    assert json.loads(done.stdout.partition("Response:\n")[2]) == {"collection": {"id": ID}}
    assert '"versions": 2' in done.stdout
    assert "a-password-5ecre7" not in done.stdout + done.stderr


def test_a_record_has_the_token_and_the_line_for_cron(console):
    options = ["--filename", "db.sql.gz", "--token-name", "db7", "--url", "https://files.example.org"]

    made = json.loads(create(console, *options, "--format", "json"))

    url = f"https://files.example.org/api/v1/collections/{made['collection']}/versions"
    assert (True, url, None) == (made["created"], made["url"], made["expires_at"])
    assert made["cron"].startswith("0 2 * * * root DUMP | gzip | curl ")
    assert made["cron"].endswith(f" -T - {url} | awk '1; /^HTTP[^ ]* 201/ {{ok = 1}} END {{exit !ok}}'")
    assert "%" not in made["cron"]
    assert [(made["fingerprint"],)] == console.rows("SELECT fingerprint FROM token")
    assert made["token"] not in made["cron"]


def test_a_record_of_a_collection_without_a_token(console):
    made = json.loads(create(console, "-f", "db.sql.gz", "--format", "json"))

    assert [None] * 4 == [made[name] for name in ("token", "fingerprint", "expires_at", "cron")]
    assert made["collection"] == create(
        console,
        *["-f", "a", "--id", made["collection"], "--ignore-error-if-exists"],
        "--column",
        "collection",
        "--format",
        "value",
    )


@pytest.mark.parametrize(
    ("option", "stdin"), [("a-password-5ecre7", ""), ("-", "a-password-5ecre7\n"), ("-", "a-password-5ecre7")]
)
def test_a_password_comes_from_the_option_or_stdin(console, option, stdin):
    from frepo_core.services.access.passwords import Passwords

    create(console, "-f", "a", "-p", option, stdin=stdin)

    [(stored,)] = console.rows("SELECT password_hash FROM collection")
    assert Passwords().matches("a-password-5ecre7", stored)


def test_an_id_that_is_taken_is_success_on_demand(console):
    create(console, "-f", "a", "--id", ID)

    again = create(console, "-f", "b", "--id", ID.upper(), "--ignore-error-if-exists")

    assert again == ID
    assert console.rows("SELECT filename FROM collection") == [("a",)]


def test_an_invalid_collection_is_refused_and_the_option_named(console):
    for options, said in [
        ([], "required: -f/--filename"),
        (["-f", "a/b"], "--filename: File name is not valid"),
        (["-f", "db.sql", "-f", "json"], "-f is the file name: write --format json for the format"),
        (["-f", "a/b"], "A file name has 1 to 200 letters, digits and spaces"),
        (["-f", ".."], "--filename: File name is not valid"),
        (["-f", "a" * 10_000], "--filename: File name is not valid"),
        (["-f", "a", "-b", "-1"], "--max-backups-count: number_cannot_be_negative_value"),
        (["-f", "a", "-b", "many"], "--max-backups-count: expected_int_type"),
        (["-f", "a", "-o", "5 parsecs"], "--max-one-version-size: cannot_parse_disk_space_check_format"),
        (["-f", "a", "-o", "5 parsecs"], "a text such as 500MB or 2GiB; given: '5 parsecs'"),
        (["-f", "a", "-c", "15.1GB"], "--max-collection-size: max_collection_size_too_big (max: 15.00GB)"),
        (["-f", "a", "-c", "1kB", "-o", "1MB"], "max_collection_size_is_lower_than_single_element_size"),
        (["-f", "a", "-b5", "-c2MB", "-o1MB"], "(needsAtLeastValue: 5.00MB)"),
        (["-f", "a", "-s", "hope"], "--strategy: unknown_strategy_allowed___"),
        (["-f", "a", "-d", "d" * 1025], "--description: at most 1024 characters"),
        (["-f", "a", "-p", "p" * 251], "--password: at most 250 characters"),
        (["-f", "a", "-p", "-"], "--password: stdin has no password"),
        (["-f", "a", "--min-retention", "soon"], "--min-retention: "),
        (["-f", "a", "--max-shrink-percent", "101"], "--max-shrink-percent: "),
        (["-f", "a", "--id", "1234"], "--id: custom_id_is_not_uuid_format"),
        (["-f", "a", "--id", "1234"], "not a UUID of version 4"),
        (["-f", "a", "--id", ""], "--id: is empty"),
    ]:
        refusal = console.refusal("backup:create-collection", *options)

        assert said in refusal
        assert console.count("collection") == 0


def test_wrong_options_of_a_strategy_are_refused(console):
    for options, told in [
        ("{keep", "--strategy-options: is not JSON"),
        ("[3]", "--strategy-options: write a JSON object"),
        ('{"keep": 3}', "--strategy-options: the strategy 'delete_oldest_when_adding_new' has no options"),
    ]:
        refusal = console.refusal("backup:create-collection", "-f", "db.sql.gz", "--strategy-options", options)

        assert told in refusal


@pytest.fixture
def checked(console):
    """A collection of two versions, the first of which is broken."""
    console.answer("backup:create-collection", "-f", "db.sql.gz", "--id", ID)
    with contextlib.closing(sqlite3.connect(console.database)) as database, database:
        for number, outcome in ((1, "broken"), (2, "good")):
            at = "2026-11-23 02:00:00.000000"
            digest, version = f"{number}" * 64, f"1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb00{number}"
            content = (number, digest, 10, "application/gzip", at)
            database.execute("INSERT INTO content (id, digest, size, mime, created_at) VALUES (?, ?, ?, ?, ?)", content)
            place = (number, digest, 10, "local", f"{digest[:2]}/{digest}", at)
            database.execute(
                "INSERT INTO object (content_id, digest, size, storage, key, state, slot, since)"
                " VALUES (?, ?, ?, ?, ?, 'present', 1, ?)",
                place,
            )
            file = (number, f"db-v{number}.sql.gz", "db.sql.gz", number, 0, at, "version")
            database.execute(
                "INSERT INTO file (id, stored_name, requested_name, content_id, public, created_at, kind)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                file,
            )
            row = (version, ID, number, number, at)
            database.execute(
                "INSERT INTO version (id, collection_id, number, file_id, created_at) VALUES (?, ?, ?, ?, ?)", row
            )
            check = (version, "integrity", outcome, "It is cut", '{"kinds": ["gzip"]}', at, "system:integrity_deep")
            database.execute(
                "INSERT INTO version_check (version_id, name, outcome, message, details, at, actor)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                check,
            )
    return ID


def test_all_results_are_listed(console, checked):
    rows = json.loads(console.answer("backup:checks", checked, "-f", "json"))

    assert [("v1", "broken"), ("v2", "good")] == [(row["Version"], row["Outcome"]) for row in rows]
    assert {
        "Version": "v1",
        "Check": "integrity",
        "Outcome": "broken",
        "Message": "It is cut",
        "At": "2026-11-23T02:00:00+00:00",
        "By": "system:integrity_deep",
        "Details": {"kinds": ["gzip"]},
    } == rows[0]


def test_the_results_of_one_version_are_listed(console, checked):
    for version, outcome in [("v1", "broken"), ("latest", "good"), ("first", "broken")]:
        assert outcome == console.answer("backup:checks", checked, version, "-f", "value", "-c", "Outcome"), version


def test_an_unknown_collection_or_version_is_refused(console, checked):
    assert "There is no collection with this id" in console.refusal(
        "backup:checks", "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb009"
    )
    assert "has no version 'v9'" in console.refusal("backup:checks", checked, "v9")


def test_the_line_for_cron_with_the_client_is_one_that_the_client_takes(console):
    lines = create(console, "-f", "db.sql.gz", "--token-name", "db7", "--url", "https://files.example.org/frepo/")

    [line] = [line for line in lines.splitlines() if "frepo-client --url" in line]
    words, command = cli.split_command(shlex.split(line.partition(" root ")[2]))
    arguments = cli.make_parser().parse_args(words[1:])
    assert ("https://files.example.org/frepo", ["DUMP"]) == (arguments.url, command)
    assert f"COLLECTION={arguments.collection}" in lines
