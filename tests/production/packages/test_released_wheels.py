"""The wheels of a release install into an empty environment, as docs/operations.md says, and serve."""

import contextlib
import json
import re
import subprocess
import time
import urllib.request
import venv

import pytest

from support.logs import log_recorder
from support.paths import ROOT
from support.scale import only_in_long_form
from support.servers.processes import free_port

pytestmark = only_in_long_form


@pytest.fixture
def environment(released, tmp_path):
    """The folder of the programs of an environment that had nothing before."""
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv/bin"
    for options in (
        ["--require-hashes", "-r", ROOT / "release/pinned.txt"],
        ["--no-index", "--find-links", released, "frepo"],
    ):
        done = subprocess.run(
            [programs / "pip", "install", "-q", *options], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return programs


def test_the_wheels_alone_store_a_first_file(environment, tmp_path):
    folder = tmp_path / "service"
    folder.mkdir()
    variables = {"PATH": f"{environment}:/usr/bin:/bin"}

    def run(*command):
        return subprocess.run(command, env=variables, cwd=folder, capture_output=True, text=True, check=False)

    refused = run("frepo", "install").stderr
    (copy,) = re.findall(r"To begin with: (cp \S+ \.)", refused)
    assert 0 == run(*copy.split()).returncode
    assert 0 == run("frepo", "install").returncode
    token = run("frepo", "auth:generate-admin-token").stdout.strip()
    url = f"http://127.0.0.1:{(port := free_port())}"
    log = tmp_path / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [environment / "pserve", "development.ini", f"http_listen=127.0.0.1:{port}"],
            env=variables,
            cwd=folder,
            stdout=output,
            stderr=output,
        )
    try:
        page = first_page(f"{url}/ui/", process, log)
        sent = request(f"{url}/repository/file/upload?fileName=first.txt", token, "POST", b"kept")
        kept = request(json.loads(sent)["url"], token)
    finally:
        process.terminate()
        process.wait(20)
        log_recorder.record_output(log.read_text())

    assert b"<title>" in page
    assert b"kept" == kept
    assert {"development.ini", "var"} == {path.name for path in folder.iterdir()}


def request(url, token, method="GET", body=None):
    asked = urllib.request.Request(url, method=method, data=body, headers={"X-Auth-Token": token})
    with urllib.request.urlopen(asked) as answer:
        return answer.read()


def first_page(url, process, log):
    """Return the page as soon as the service answers."""
    for _ in range(300):
        assert process.poll() is None, log.read_text()
        with contextlib.suppress(OSError), urllib.request.urlopen(url) as answer:
            return answer.read()
        time.sleep(0.2)
    raise AssertionError(log.read_text())
