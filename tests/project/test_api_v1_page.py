"""Every command of docs/api-v1.md runs against a real service, and prints what the page shows."""

import os

import pytest

from support.console.terminal import Terminal, blocks
from support.paths import ROOT

PAGE = (ROOT / "docs/api-v1.md").read_text()


@pytest.fixture
def terminal(service, tmp_path):
    terminal = Terminal(tmp_path, {"PATH": os.environ["PATH"], "URL": service.url, "TOKEN": service.admin})
    yield terminal
    terminal.close()


def test_every_command_of_the_page_works(terminal):
    found = [block for title in ("A backup from start to end", "A file") for block in blocks(PAGE, title)]

    printed = [(terminal.run(block.code), block.printed) for block in found]

    assert len(printed) == 11
    for output, shown in printed:
        assert set(shown) <= set(output.splitlines())
