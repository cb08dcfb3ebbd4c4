"""A broken ini file ends with one line that names the file, the place and what to do."""

import os

import pytest

INI = """[app:main]
use = egg:frepo-core
app.env = test
enc.token_phrase = phrase-5ecre7
[server:main]
use = egg:frepo-server#waitress
listen = 127.0.0.1:0
[loggers]
keys = root
[handlers]
keys = console
[formatters]
keys = generic
[logger_root]
level = INFO
handlers = console
[handler_console]
class = StreamHandler
args = (sys.stderr,)
formatter = generic
[formatter_generic]
format = %(message)s
"""
# What is replaced by what, and what the line says about it.
OF_EACH_COMMAND = {
    "two lines of a setting": (
        "app.env = test",
        "app.env = test\napp.env = prod",
        "line 4, section [app:main]: sets app.env again",
    ),
    "two sections": ("[loggers]", "[app:main]\n[loggers]", "line 8, section [app:main]: begins this section again"),
    "nothing before the first section": ("[app:main]\n", "", "line 1: is before the first section"),
    "no =": ("enc.token_phrase = ", "enc.token_phrase ", "line 4: is neither `name = value` nor a comment"),
    "another name": ("[app:main]", "[app:mian]", "line 1: has no section [app:main]. Did you mean it by [app:mian]?\n"),
    "a name that nothing has": (
        "phrase-",
        "%(x)s-",
        "line 4, section [app:main]: the value of enc.token_phrase uses %(x)s",
    ),
    "a single %": ("phrase-", "a%b-", "line 4, section [app:main]: the value of enc.token_phrase has a single %"),
}
BEFORE_SERVING = {
    "an unknown package": (
        "egg:frepo-core",
        "egg:frepo-cor",
        "line 2, section [app:main]: `use = egg:frepo-cor`: the package frepo-cor is not installed. Write `use =",
    ),
    "an unknown entry point": (
        "egg:frepo-core",
        "egg:frepo-core#no",
        "line 2, section [app:main]: `use = egg:frepo-core#no`: the package has no 'no', it has main",
    ),
    "no use": ("use = egg:frepo-core\n", "", "line 1, section [app:main]: has no `use`"),
    "an unknown server": (
        "egg:frepo-server#waitress",
        "egg:frepo-server#gunicorn",
        "line 6, section [server:main]: `use = egg:frepo-server#gunicorn`",
    ),
    "another server section": (
        "[server:main]",
        "[server:mian]",
        "line 5: has no section [server:main]. Did you mean it by [server:mian]?",
    ),
    "a % in the server": (
        "127.0.0.1:0",
        "%(host)s",
        "line 7, section [server:main]: the value of listen uses %(host)s",
    ),
    "an unknown handler": ("handlers = console", "handlers = file", "section [logger_root]: handlers names 'file'"),
    "an unknown level": ("INFO", "LOUD", "line 15, section [logger_root]: `level = LOUD` is not a level"),
    "a logger without a section": (
        "keys = root",
        "keys = root, db",
        "line 9, section [loggers]: names 'db', and there is no section [logger_db]",
    ),
    "no formatters": ("[formatters]\nkeys = generic\n", "", "has no section [formatters], which [loggers] needs"),
}
ENCODINGS = {
    "a byte order mark": (
        b"\xef\xbb\xbf" + INI.encode(),
        "line 1: begins with a byte order mark. Save it as UTF-8 without one",
    ),
    "UTF-16": (INI.encode("utf-16"), "is UTF-16. Save it as UTF-8"),
    "Latin-1": (INI.replace("phrase-", "zażółć-").encode("iso-8859-2"), "line 4: has a character that is not UTF-8"),
}


def said_by(console, ini_file, command):
    said = console.refusal("--ini", str(ini_file), command, DATABASE_URL="", ENC_TOKEN_PHRASE="")
    assert 1 == len(said.strip().splitlines()), said
    assert "5ecre7" not in said
    return said


def test_a_mistake_is_named_by_each_command(console, ini_file):
    for mistake, (before, after, expected) in OF_EACH_COMMAND.items():
        ini_file.write_text(INI.replace(before, after))

        said = said_by(console, ini_file, "db:upgrade")

        assert str(ini_file) in said
        assert expected in said, mistake


@pytest.fixture
def never_served(monkeypatch):
    """`serve` replaces the process, here that of the tests."""
    monkeypatch.setattr(os, "execve", lambda *_: pytest.fail("the service was started"))


@pytest.mark.usefixtures("never_served")
def test_install_and_serve_name_what_a_server_could_not_read(console, ini_file):
    for mistake, (before, after, expected) in BEFORE_SERVING.items():
        ini_file.write_text(INI.replace(before, after))

        assert expected in said_by(console, ini_file, "install")
        assert expected in said_by(console, ini_file, "serve"), mistake


@pytest.mark.usefixtures("never_served")
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("StreamHandler", "StremHandler", "logging what cannot be done: No module named 'StremHandler'. Compare its"),
        ("(sys.stderr,)", "(sy.stderr,)", "name 'sy' is not defined. Compare its [handler_...]"),
        (
            "StreamHandler\nargs = (sys.stderr,)",
            "FileHandler\nargs = ('/no/folder/log',)",
            "'/no/folder/log'",
        ),
    ],
)
def test_serve_names_a_log_that_cannot_be_opened(console, ini_file, before, after, expected):
    assert before in INI
    ini_file.write_text(INI.replace(before, after))

    assert expected in said_by(console, ini_file, "serve")


def test_another_encoding_is_named(console, ini_file):
    for mistake, (content, expected) in ENCODINGS.items():
        ini_file.write_bytes(content)

        assert expected in said_by(console, ini_file, "db:upgrade"), mistake


def test_the_shipped_files_and_this_one_have_no_mistake(ini_file):
    from frepo_core.cli.ini_check import IniFile
    from support.paths import ROOT

    ini_file.write_text(INI)
    for path in (ini_file, ROOT / "development.ini", ROOT / "production.ini"):
        IniFile(path).check_to_serve()
