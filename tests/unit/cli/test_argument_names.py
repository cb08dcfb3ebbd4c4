"""An error names an argument that is in the usage of the command: docs/commands.md says so."""

import re

import pytest


@pytest.fixture
def collection(console):
    return console.answer("backup:create-collection", "-f", "db.sql.gz", "-b", "3")


def check(console, arguments, expected):
    usage = console.answer(arguments[0], "--help")
    refusal = console.refusal(*arguments)
    (named,) = re.findall(r"^  (--[\w.-]+|<[\w.-]+>): ", refusal, re.MULTILINE)
    assert (expected, True) == (named, named.strip("<>") in usage.split("\n\n")[0] or f"{named} " in usage)


def test_an_error_names_the_option_as_the_usage_does(console, collection):
    for arguments, expected in [
        (["backup:edit", "ID", "--expected-every", "often"], "--expected-every"),
        (["backup:edit", "ID", "--label", "a" * 65], "--label"),
        (["backup:preview", "ID", "--every", "1d", "--for", "30d"], "--size"),
        (["backup:preview", "ID", "--every", "1d", "--for", "9999999d", "--size", "1"], "--for"),
        (["backup:create-collection", "-f", "a", "--allow", "nonsense"], "--allow"),
        (["backup:create-collection", "-f", "a", "--expected-every", "often"], "--expected-every"),
    ]:
        check(console, [collection if one == "ID" else one for one in arguments], expected)


def test_the_error_for_the_file_of_a_version_names_the_argument(console, collection):
    (console.folder / "dump").write_text("a dump")
    console.answer("backup:upload", collection, str(console.folder / "dump"))
    [[name]] = console.rows("SELECT stored_name FROM file")

    check(console, ["file:delete", name, "--yes"], "<name>")
