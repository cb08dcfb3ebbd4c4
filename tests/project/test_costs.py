"""What a request costs is what the table says: whoever makes one dearer has to say why."""

import json
import os
import platform
import subprocess
import sys
import tomllib

import pytest

from support.costs.table import EXACT, TABLE, WHY
from support.paths import ROOT
from support.servers import postgresql


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request):
    if request.param == "postgresql" and postgresql.MISSING:
        pytest.skip(postgresql.MISSING)
    return request.param


def measure(database):
    """Measure in a process of its own: threads of other tests, and what they have cached, would be counted."""
    # Sets of texts have an order of their own in each process, and so has what is asked of their members.
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests"), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "support.costs", database]
    return json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout)


def test_requests_cost_what_the_table_says(database):
    table = tomllib.loads(TABLE.read_text())
    expected = {name: figures | {"trips": figures.get("trips", 0)} for name, figures in table[database].items()}

    measured = measure(database)

    exact = {name: {one: figures[one] for one in EXACT} for name, figures in expected.items()}
    assert exact == {name: {one: figures[one] for one in EXACT} for name, figures in measured.items()}
    if platform.python_version().startswith(table["python"]):
        for name, figures in expected.items():
            for one in ("calls", "files"):
                assert figures[one] == pytest.approx(measured[name][one], rel=0.02, abs=12), (name, one)


def test_a_figure_that_rose_has_a_reason():
    assert WHY not in TABLE.read_text()
