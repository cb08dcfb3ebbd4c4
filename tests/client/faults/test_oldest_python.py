"""The oldest Python that the client promises runs each of its commands."""

import os
import re

import pytest

from support.paths import ROOT
from support.pythons import find_python

PROMISED = re.search(r'requires-python = ">=(3\.\d+)"', (ROOT / "frepo_client/pyproject.toml").read_text())[1]
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
def oldest(machine):
    found = find_python(PROMISED, os.environ.get("FREPO_OLDEST_PYTHON"))
    machine.python = found or pytest.skip(f"python{PROMISED} was not found; see FREPO_OLDEST_PYTHON")
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
    oldest.run("--config", "client.toml", "token", "rotate", **nobody)
    oldest.run("--config", "new.toml", "enroll", oldest.url, "--code", code, **nobody)

    assert home.joinpath("dump").read_text() == home.joinpath("restored").read_text()
    assert 3 == len(oldest.versions())
    assert before != oldest.token_file.read_text()
    assert home.joinpath("frepo-token").exists()
