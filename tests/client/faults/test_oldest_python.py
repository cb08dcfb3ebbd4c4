"""The oldest Python that the client promises runs each of its commands, and an older one says what is needed."""

import ast
import os
import re
import subprocess

import pytest

from frepo_client import OLDEST_PYTHON
from frepo_client.zipapp import build
from support.paths import ROOT
from support.pythons import PROMISED, find_oldest

from ..conftest import PYTHON, make_program

# Where people and programs read which Python the client needs, and how often.
PLACES = {
    "frepo_client/pyproject.toml": ('requires-python = ">={}.{}"', 'target-version = "py{}{}"', "than Python {}.{}"),
    "frepo_client/README.md": ("needs Python {}.{} or newer",),
    "docs/client.md": ("needs Python {}.{} or newer",),
    "docs/client-promises.md": ("| Python {}.{} and the standard library alone", "Python {}.{} runs each command"),
    "docs/recover-by-hand.md": ("needs Python {}.{} and nothing else",),
    "docs/recover_by_hand.py": ("needs Python {}.{} and nothing else",),
    "CHANGES.md": ("one file for Python {}.{},",),
}
CONFIGURATION = """
[server]
url = "{url}"
token_file = "{token}"
[defaults]
compress = "gzip"
spool = "spool"
metrics_file = "shop.prom"
[job.shop]
collection = "shop.sql"
command = [["cat", "dump"], ["cat"]]
before = ["true"]
after = ["true"]
env_file = "shop.env"
restore_test = ["cat"]
"""


@pytest.fixture
def oldest(machine, tmp_path):
    machine.python = find_oldest()
    machine.program = make_program(tmp_path, machine.python)
    return machine


def test_the_oldest_python_runs_each_command(oldest):
    home = oldest.home
    text = CONFIGURATION.format(url=oldest.url, token=oldest.token_file)
    home.joinpath("client.toml").write_text(text)
    home.joinpath("dump").write_text("INSERT\n" * 1000)
    home.joinpath("shop.env").write_text("PGPASSWORD=secret\n")
    home.joinpath("shop.env").chmod(0o600)
    before = oldest.token_file.read_text()
    code = oldest.call("POST", "enrolments", {"name": "db7", "collections": [oldest.collection]})["code"]
    nobody = {"FREPO_URL": "", "FREPO_TOKEN_FILE": ""}

    for words in ("check", "run", "status --nagios", "spool", "schedule systemd --print", "verify shop.sql"):
        oldest.run("--config", "client.toml", *words.split(), **nobody)
    oldest.run("pipe", "shop.sql", "--", "cat", "dump")
    oldest.run("push", "shop.sql", "dump")
    oldest.run("pull", "shop.sql", "-o", "restored")
    oldest.run("pull", "shop.sql", "--into", "--", "cat")
    oldest.run("restore", "shop.sql", "-o", "again")
    oldest.run("--config", "client.toml", "token", "rotate", **nobody)
    oldest.run("--config", "new.toml", "enroll", oldest.url, "--code", code, **nobody)

    assert home.joinpath("dump").read_text() == home.joinpath("restored").read_text()
    assert 3 == len(oldest.versions())
    assert before != oldest.token_file.read_text()
    assert home.joinpath("frepo-token").exists()


def test_each_place_names_the_same_python():
    places = {path: ROOT.joinpath(path).read_text() for path in PLACES}

    missing = {
        path: text
        for path, texts in PLACES.items()
        for text in texts
        if text.format(*OLDEST_PYTHON) not in places[path]
    }

    assert {} == missing
    assert [] == [path for path, text in places.items() if set(re.findall(r"Python (3\.[0-9]\b)", text)) - {PROMISED}]


@pytest.mark.parametrize("module", ["__init__", "__main__"])
def test_any_python_can_read_what_says_that_it_is_too_old(module):
    source = ROOT.joinpath(f"frepo_client/src/frepo_client/{module}.py").read_text()

    ast.parse(source, feature_version=(3, 4))


def test_an_older_python_is_told_what_the_client_needs(tmp_path):
    program = tmp_path / "frepo-client.pyz"
    program.write_bytes(build())
    older = f"import runpy, sys; sys.version_info = (3, 6, 15); runpy.run_path({str(program)!r}, run_name='__main__')"

    done = subprocess.run([PYTHON, "-c", older], capture_output=True, text=True, check=False, env=os.environ)

    message = f"frepo-client needs Python {PROMISED} or newer, and this is 3.6, {PYTHON}: run it with a newer one\n"
    assert (2, message) == (done.returncode, done.stderr)
