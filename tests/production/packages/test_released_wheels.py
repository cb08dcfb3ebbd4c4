"""The wheels of a release install into an empty environment, as docs/operations.md says, and serve."""

import contextlib
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


def test_the_first_page_is_served(environment, tmp_path):
    variables = {"FREPO_INI": str(ROOT / "development.ini"), "DATABASE_URL": f"sqlite:///{tmp_path}/frepo.db"}
    variables |= {"FS_LOCAL_DIRECTORY": f"{tmp_path}/storage", "APP_SECRETS_FILE": f"{tmp_path}/secrets.json"}
    variables |= {"TEMP_DIRECTORY": f"{tmp_path}/temporary", "PATH": f"{environment}:/usr/bin:/bin"}
    port = free_port()
    subprocess.run([environment / "frepo", "install"], env=variables, cwd=tmp_path, check=True, capture_output=True)
    log = tmp_path / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [environment / "pserve", ROOT / "development.ini", f"http_listen=127.0.0.1:{port}"],
            env=variables,
            cwd=tmp_path,
            stdout=output,
            stderr=output,
        )
    try:
        page = first_page(f"http://127.0.0.1:{port}/ui/", process, log)
    finally:
        process.terminate()
        process.wait(20)
        log_recorder.record_output(log.read_text())

    assert b"<title>" in page


def first_page(url, process, log):
    """Return the page as soon as the service answers."""
    for _ in range(300):
        assert process.poll() is None, log.read_text()
        with contextlib.suppress(OSError), urllib.request.urlopen(url) as answer:
            return answer.read()
        time.sleep(0.2)
    raise AssertionError(log.read_text())
