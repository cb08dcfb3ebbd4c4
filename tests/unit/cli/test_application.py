import os
import re
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from frepo_core.cli.app import FrepoApp

ENTRIES = entry_points(group="frepo.commands")
OURS = {entry.name: entry.load() for entry in ENTRIES if entry.dist.name == "frepo-core"}
COMMANDS = ENTRIES.names


def test_the_help_lists_the_commands(console):
    shown = console.answer("--help").partition("\nBackups:\n")[2]
    listed = re.findall(r"^  (\S+)  ", shown, re.MULTILINE)

    assert sorted(listed) == sorted([*COMMANDS, "help"])
    assert shown.index("\nTokens:\n") < shown.index("  auth:list ") < shown.index("\nStorages:\n")
    assert console.answer("--help") == console.answer("help", "--all") == console.answer("help")


def test_the_script_is_installed(console):
    done = console.run_script("--help")

    assert (done.returncode, done.stdout, done.stderr) == (0, console.run("--help").stdout, "")


@pytest.mark.costly
@pytest.mark.parametrize("command", ["--help", "auth:generate-admin-token", "auth:list --help"])
def test_a_command_does_not_read_the_metadata_of_every_package(console, command):
    code = """if True:
        import sys
        opened = []
        sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
        from frepo_core.script import main
        main(sys.argv[1:])
        print(*(path for path in opened if path.endswith("METADATA")), file=sys.stderr)"""
    python = [sys.executable, "-c", code, *command.split()]

    done = subprocess.run(python, capture_output=True, text=True, env=console.environment, check=True)

    assert "frepo_core-" in done.stderr
    assert "pytest-" not in done.stderr


def test_without_a_command_it_says_what_people_do_and_no_shell_starts(console):
    for arguments in [[], ["-v"], ["--ini", "elsewhere.ini"]]:
        shown = console.answer(*arguments)
        doings = re.findall(r"^  ([\w-]+)  ", shown, re.MULTILINE)
        assert doings == ["send", "look", "restore", "tokens", "storages", "plug-ins", "examine", "serve"]
        named = re.findall(r"(?<=frepo )[a-z]+(?::[a-z-]+)?(?= *(?:,|$|NAME| -|  ))", shown, re.MULTILINE)
        assert len(named) > 15
        assert set(named) <= {*COMMANDS, "help"}


def test_the_first_help_names_the_whole(console):
    done = console.run_script()

    assert (done.returncode, done.stderr) == (0, "")
    assert "`frepo help --all` lists all commands" in done.stdout


def test_each_command_has_help_with_an_example():
    helps = {
        name: command(FrepoApp(), None).get_parser(f"frepo {name}").format_help() for name, command in OURS.items()
    }

    assert OURS
    assert [] == [name for name, text in helps.items() if not text.startswith(f"usage: frepo {name}")]
    assert [] == [name for name, text in helps.items() if f"frepo {name}" not in text.partition("\nExample")[2]]


def test_the_help_of_a_command_is_printed(console):
    for command in ["jobs", *COMMANDS - OURS.keys()]:
        assert console.answer(command, "--help").startswith(f"usage: frepo {command}")


def test_an_unknown_command_is_refused(console):
    for arguments in [["auth:gen"], ["auth:create-token-now"], ["-x"], ["--in", "x"], ["complete"]]:
        assert f"{arguments[0]!r}" in console.refusal(*arguments)


def test_a_prefix_of_a_name_runs_no_command(new_console):
    new_console.refusal("auth:generate-admin")

    assert not new_console.database.exists()


def test_wrong_arguments_exit_with_1(console):
    for arguments in [
        ["auth:create-token"],
        ["auth:create-token", "--role", "upload.all"],
        ["auth:generate-admin-token", "more"],
        ["plugins", "--form", "json"],
        ["--ini"],
        ["-q", "-v", "plugins"],
    ]:
        assert "error:" in console.refusal(*arguments)


def test_an_argument_that_is_not_utf_8_is_refused(console):
    assert "not valid UTF-8" in console.refusal("backup:create-collection", "-f", "a", "-d", b"\xff")


def test_a_missing_ini_file_is_named(console):
    assert "The ini file 'development.ini' does not exist" in console.refusal("db:upgrade", FREPO_INI="")


def test_the_text_around_a_lone_percent_is_not_shown(console, ini_file):
    ini_file.write_text("[app:main]\ndatabase.url = postgresql://frepo:abc%5ecre7@db/frepo\n")
    said = console.refusal("--ini", str(ini_file), "db:upgrade")

    assert "%%" in said
    assert "5ecre7" not in said


def test_the_ini_file_of_the_option_is_read_before_that_of_the_environment(console, ini_file):
    ini_file.write_text("[app:main]\nno.such_setting = 1\n")

    assert "no.such_setting" in console.refusal("--ini", str(ini_file), "db:upgrade")


def test_a_broken_ini_file_is_reported_without_a_traceback(console, ini_file):
    for content in ["no section", "[app:main]\na = %(missing)s", "[app:main]\na\n  b = %", "[other]\n"]:
        ini_file.write_text(content)

        assert str(ini_file) in console.refusal("--ini", str(ini_file), "db:upgrade"), content


@pytest.mark.parametrize(
    ("setting", "value"),
    [("fs.adapter", "tape"), ("app.env", "moon"), ("database.url", "nonsense"), ("fs.local.x", "1")],
)
def test_a_wrong_setting_is_named(console, ini_file, setting, value):
    ini_file.write_text(ini_file.read_text() + f"{setting} = {value}\n")

    refusal = console.refusal("--ini", str(ini_file), "db:upgrade", DATABASE_URL="")

    assert setting in refusal


def test_an_unreachable_database_is_reported_without_its_password(console):
    for command in ["auth:generate-admin-token", "auth:clear-expired-tokens", "db:upgrade", "install"]:
        for url in ["postgresql://me:a-password-5ecre7@127.0.0.1:9/x", "sqlite:////proc/none/frepo.db"]:
            refusal = console.refusal(command, DATABASE_URL=url)

            assert "database.url" in refusal
            assert "a-password-5ecre7" not in refusal


def test_a_file_that_is_not_a_database_is_reported(console):
    console.database.write_text("this is a poem" * 1000)

    assert "not a database" in console.refusal("auth:generate-admin-token")


def test_an_old_schema_is_refused_with_the_remedy(new_console):
    assert "frepo db:upgrade" in new_console.refusal("auth:generate-admin-token", DATABASE_AUTO_UPGRADE="false")


def test_debug_shows_the_traceback(console):
    done = console.run("--debug", "db:upgrade", FREPO_INI="nowhere.ini")

    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_an_answer_that_cannot_be_written_is_a_failure(console):
    with open("/dev/full", "w") as full:
        done = console.run("auth:generate-admin-token", stdout=full)

    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_help_says_that_results_are_printed_with_q(console):
    assert "log errors only; results are still printed" in console.answer("--help")


def test_a_file_that_is_not_an_ini_file_is_named(console, tmp_path):
    (tmp_path / "README.md").write_text("# Read me\n")

    refusal = console.refusal("--ini", str(tmp_path / "README.md"), "db:upgrade")

    assert f"{str(tmp_path / 'README.md')!r} is not an ini file: its name must end with .ini" in refusal


@pytest.mark.parametrize("command", ["auth:list", "backup:list"])
def test_a_reader_that_has_seen_enough_is_no_error(console, command):
    console.answer("backup:create-collection", "-f", "a", "-d", "a" * 1024)  # more than the buffer of stdout
    console.answer("auth:generate-admin-token")
    reader, writer = os.pipe()
    os.close(reader)

    with os.fdopen(writer, "w") as closed:
        done = console.run(command, stdout=closed)

    assert (1, "") == (done.returncode, done.stderr)
