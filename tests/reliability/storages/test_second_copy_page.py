"""Every command of "3-2-1 in ten minutes" in docs/second-copy.md works, in the order of the page."""

import contextlib
import sqlite3
import sys
import time
from pathlib import Path

import pytest

from support.console.terminal import Terminal, blocks
from support.paths import ROOT
from support.reliability.invariants import eventually
from support.servers.service import Service

PAGE = (ROOT / "docs/second-copy.md").read_text()


@pytest.fixture
def terminal(tmp_path):
    service = Service(tmp_path)
    bin_folder = Path(sys.executable).parent
    service.frepo("db:upgrade")
    environment = service.environment | {
        "PATH": f"{bin_folder}:{service.environment['PATH']}",
        "FREPO_INI": str(service.ini),
    }
    terminal = Terminal(tmp_path, environment)
    yield terminal
    terminal.close()


def has_leader(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT 1 FROM lease WHERE name = 'worker' AND holder IS NOT NULL").fetchone()


@pytest.mark.costly
def test_every_command_of_the_page_works(terminal, tmp_path):
    began = time.monotonic()
    settings, *further = blocks(PAGE, "3-2-1 in ten minutes")
    terminal.run(settings.code)
    terminal.run('frepo worker > worker.log 2>&1 & trap "kill $!" EXIT')
    assert eventually(lambda: has_leader(tmp_path / "frepo.db"))

    printed = [(terminal.run(block.code), block.printed) for block in further]

    print(f"“3-2-1 in ten minutes” took {time.monotonic() - began:.1f} s")
    assert 5 == len(printed)
    for output, shown in printed:
        assert set(shown) <= set(output.splitlines())
    events = printed[-1][0]
    assert "blob.damaged" in events
    assert "blob.fell_back" in events
