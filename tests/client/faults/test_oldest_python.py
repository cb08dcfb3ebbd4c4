"""The oldest Python that the client promises runs each of its commands."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.paths import ROOT

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


def find_python():
    """Return the path of this Python: that of FREPO_OLDEST_PYTHON, of PATH, or of pyenv; None if there is none."""
    name = f"python{PROMISED}"
    versions = sorted(Path.home().glob(f".pyenv/versions/{PROMISED}.*/bin/{name}"))
    for found in (os.environ.get("FREPO_OLDEST_PYTHON"), shutil.which(name), *versions):
        # A shim of pyenv may have the name, and no such version.
        if found and not subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode:
            return str(found)
    return None


@pytest.fixture
def oldest(machine):
    machine.python = find_python() or pytest.skip(f"python{PROMISED} was not found; see FREPO_OLDEST_PYTHON")
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
