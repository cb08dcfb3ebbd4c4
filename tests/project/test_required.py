import os
import subprocess
import sys

import pytest

from support.paths import TESTS

SKIPPED = """
import pytest

@pytest.fixture
def server():
    pytest.skip("a server is not installed: make services")

def test_with_the_server(server): ...
"""
MODULE = "import pytest\npytest.skip('a server is not installed', allow_module_level=True)\n"
OTHER = "import pytest\n\n@pytest.mark.skip('too slow today')\ndef test_slow(): ...\n"


def run(folder, content, **environment):
    (folder / "conftest.py").write_text("from support.required import *\n")
    (folder / "test_it.py").write_text(content)
    kept = {name: value for name, value in os.environ.items() if name != "FREPO_REQUIRE_SERVERS"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)],
        env=kept | {"PYTHONPATH": str(TESTS), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("content", [SKIPPED, MODULE])
def test_a_missing_server_fails_where_servers_are_required(tmp_path, content):
    done = run(tmp_path, content, FREPO_REQUIRE_SERVERS="1")

    assert done.returncode != 0
    assert "a server is not installed" in done.stdout


def test_a_missing_server_is_a_skip_elsewhere(tmp_path):
    assert "1 skipped" in run(tmp_path, SKIPPED).stdout


def test_another_skip_is_unchanged(tmp_path):
    assert run(tmp_path, OTHER, FREPO_REQUIRE_SERVERS="1").returncode == 0
