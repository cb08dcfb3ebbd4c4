"""Every command of docs/api-v1.md and docs/runs.md runs against a real service, and prints what the page shows."""

import json
import os

import pytest

from support.console.terminal import Terminal, blocks
from support.paths import ROOT

PAGE = (ROOT / "docs/api-v1.md").read_text()
RUNS = (ROOT / "docs/runs.md").read_text()


@pytest.fixture
def terminal(service, tmp_path):
    terminal = Terminal(tmp_path, {"PATH": os.environ["PATH"], "URL": service.url, "TOKEN": service.admin})
    yield terminal
    terminal.close()


def test_every_command_of_the_page_works(terminal):
    found = [block for title in ("A backup from start to end", "A file") for block in blocks(PAGE, title)]

    printed = [(terminal.run(block.code), block.printed) for block in found]

    assert len(printed) == 14
    for output, shown in printed:
        assert set(shown) <= set(output.splitlines())


@pytest.mark.costly
def test_every_command_of_the_page_about_runs_works(terminal, tmp_path):
    api = 'curl --fail-with-body -sS -H @token.header "$URL/api/v1/collections'
    terminal.run('echo "Authorization: Bearer $TOKEN" > token.header')
    terminal.run(f"""{api}" -d '{{"name": "shop.sql.gz"}}' > made.json""")
    made = json.loads((tmp_path / "made.json").read_text())
    terminal.run(f"export COLLECTION=$URL/api/v1/collections/{made['id']}")
    found = blocks(RUNS, "With curl")

    printed = [(terminal.run(block.code), block.printed) for block in found]

    assert 4 == len(printed)
    for output, shown in printed:
        assert set(shown) <= set(output.splitlines())
    runs = json.loads(terminal.run('curl --fail-with-body -sS -H @token.header "$COLLECTION/runs"'))["items"]
    assert ["failed"] * 3 == [run["outcome"] for run in runs]
    reason = "cat: shop.sql: No such file or directory"
    assert (reason, [2, 2, None]) == (runs[0]["reason"], [run["version"] for run in runs])
    assert '"number":1,' in terminal.run('curl --fail-with-body -sS -H @token.header "$COLLECTION/versions/good"')
    shown = json.loads(terminal.run('curl --fail-with-body -sS -H @token.header "$COLLECTION"'))
    assert ("failed", reason) == (shown["state"], shown["state_reason"].partition(";")[0])
