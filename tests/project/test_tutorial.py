"""Every command of docs/tutorial.md runs, and prints the output that the page shows."""

import shutil

import pytest

from support.console.terminal import Terminal, blocks
from support.console.tutorial import LOCAL_PARTS, PAGE, PRODUCTION_PART, FirstTerminal, run_part
from support.installation.debian import Machine, copy_clone
from support.scale import only_in_long_form
from support.servers import nginx, postgresql
from support.servers.processes import free_port, is_answered

pytestmark = pytest.mark.skipif(not shutil.which("sqlite3"), reason="sqlite3 is not installed: make services")


@pytest.fixture(scope="module")
def walkthrough(tmp_path_factory, wheels):
    """Run the parts one after the other in one clone, twice: each uses the results of the previous one."""
    clone = tmp_path_factory.mktemp("tutorial") / "clone"
    environment = copy_clone(clone, wheels).variables
    address = f"127.0.0.1:{free_port()}"
    url = f"http://{address}/"
    first = FirstTerminal(clone, environment | {"HTTP_LISTEN": address}, lambda: is_answered(url))
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


@pytest.mark.parametrize(
    "title", [*LOCAL_PARTS[:2], *(pytest.param(part, marks=pytest.mark.costly) for part in LOCAL_PARTS[2:])]
)
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
                run_part(PRODUCTION_PART, {"": terminal, "to begin again": terminal}, machine.adapt)
        finally:
            terminal.close()
            machine.stop()


def test_no_part_is_left_out():
    titles = [line.removeprefix("## ") for line in PAGE.splitlines() if line.startswith("## ")]

    assert [*LOCAL_PARTS, PRODUCTION_PART] == titles


def test_the_plug_in_has_ten_lines():
    [step] = [step for step in blocks(PAGE, "Write a plug-in") if "frepo_keep_first.py <<" in step.code]
    code = step.code.partition("<<'EOF'\n")[2].partition("\nEOF")[0]

    assert 10 == len([line for line in code.splitlines() if line])
