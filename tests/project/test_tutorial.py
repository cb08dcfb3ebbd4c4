"""Every command of docs/tutorial.md runs, and prints the output that the page shows."""

import os
import shutil
import signal
import subprocess
import time
import urllib.request

import pytest

from support.console.terminal import Terminal, blocks
from support.installation.debian import Machine, copy_clone
from support.paths import ROOT
from support.scale import only_in_long_form
from support.servers import nginx, postgresql
from support.servers.processes import free_port

PAGE = (ROOT / "docs/tutorial.md").read_text()
LOCAL_PARTS = ["Start the service", "Back up a database each night", "Write a plug-in"]
START_SECONDS = 60

pytestmark = pytest.mark.skipif(not shutil.which("sqlite3"), reason="sqlite3 is not installed: make services")


class FirstTerminal:
    """The terminal in which the service runs; a second `make serve` follows a stop."""

    def __init__(self, clone, environment, url):
        self.clone, self.environment, self.url = clone, environment, url
        self.process = None

    def run(self, code):
        self.close()
        with (self.clone / "output").open("ab") as output:
            command = ["bash", "-ec", code]
            self.process = subprocess.Popen(
                command, cwd=self.clone, env=self.environment, stdout=output, stderr=output, process_group=0
            )
        assert answers(self.url), (self.clone / "output").read_text()

    def close(self):
        if self.process:
            os.killpg(self.process.pid, signal.SIGTERM)  # SIGINT is ignored if pytest runs in the background
            self.process.wait(20)


def answers(url):
    """Wait until a server answers at the URL."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=30):
                return True
        except OSError:
            time.sleep(0.1)
    return False


@pytest.fixture(scope="module")
def walkthrough(tmp_path_factory, wheels):
    """Run the parts one after the other in one clone, twice: each uses the results of the previous one."""
    clone = tmp_path_factory.mktemp("tutorial") / "clone"
    environment = copy_clone(clone, wheels).variables
    address = f"127.0.0.1:{free_port()}"
    first = FirstTerminal(clone, environment | {"HTTP_LISTEN": address}, f"http://{address}/")
    seconds = [Terminal(clone, environment) for _ in range(2)]
    parts = [(attempt, title) for attempt in range(2) for title in LOCAL_PARTS]
    finished = []

    def walk(*until):
        for part in parts[len(finished) : parts.index(until) + 1]:
            finished.append(part)
            terminals = {"": seconds[part[0]], "first terminal": first}
            run_part(part[1], terminals, lambda code: code.replace("127.0.0.1:6543", address))

    yield walk
    first.close()
    for second in seconds:
        second.close()


def run_part(title, terminals, adapt):
    """Run the commands of a part; fail if a shown line is not printed."""
    steps = blocks(PAGE, title)
    assert steps, f"docs/tutorial.md has no commands under {title!r}"
    for step in steps:
        printed = terminals[step.place].run(adapt(step.code)) or ""
        assert [] == [line for line in step.printed if line not in printed], f"{step.code}\nprinted:\n{printed}"


@pytest.mark.parametrize("title", LOCAL_PARTS)
def test_each_local_part_runs(walkthrough, title):
    walkthrough(0, title)


@only_in_long_form
@pytest.mark.parametrize("title", LOCAL_PARTS)
def test_each_local_part_runs_again_in_the_same_clone(walkthrough, title):
    walkthrough(1, title)


@only_in_long_form
@pytest.mark.skipif(bool(postgresql.MISSING or nginx.MISSING), reason="PostgreSQL or nginx is not installed")
def test_the_production_part_runs_and_can_be_begun_again(tmp_path):
    with postgresql.postgresql() as url:
        machine = Machine(tmp_path / "machine", url)
        terminal = Terminal(machine.clone, machine.variables)
        try:
            for _ in range(2):
                run_part("Set up production", {"": terminal, "to begin again": terminal}, machine.adapt)
        finally:
            terminal.close()
            machine.stop()


def test_no_part_is_left_out():
    titles = [line.removeprefix("## ") for line in PAGE.splitlines() if line.startswith("## ")]

    assert [*LOCAL_PARTS, "Set up production"] == titles


def test_the_plug_in_has_ten_lines():
    [step] = [step for step in blocks(PAGE, "Write a plug-in") if "frepo_keep_first.py <<" in step.code]
    code = step.code.partition("<<'EOF'\n")[2].partition("\nEOF")[0]

    assert 10 == len([line for line in code.splitlines() if line])
