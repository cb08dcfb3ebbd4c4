"""A package that pinned the frepo before this one: pip, CHANGES.md and the start say which line to change."""

import subprocess
import sys

import pytest

from support.installation.environments import build, make_environment
from support.paths import ROOT

pytestmark = pytest.mark.costly

LINE = '"frepo-core >=0.1, <1"'
PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "acme-pinned"
version = "1.0"
dependencies = ["frepo-core {pin}"]

[project.entry-points.frepo]
acme_pinned = "acme_pinned"

[tool.setuptools]
py-modules = ["acme_pinned"]
"""


def build_package(folder, pin):
    """Build the wheel of a package without hooks; return its path."""
    source = folder / "source"
    source.mkdir(parents=True)
    (source / "pyproject.toml").write_text(PROJECT.format(pin=pin))
    (source / "acme_pinned.py").touch()
    (wheel,) = build([source], folder / "wheels").glob("*.whl")
    return wheel


def test_a_package_for_an_earlier_frepo_says_which_line_to_change(wheels, tmp_path):
    environment = make_environment(tmp_path / "venv", wheels, "frepo-core")
    pinned = build_package(tmp_path / "pinned", ">=0.1, <0.2")

    def install(*arguments):
        command = [sys.executable, "-m", "pip", "install", "--quiet", *arguments]
        return subprocess.run(command, env=environment.variables, check=False, capture_output=True, text=True)

    refused = install(pinned)
    assert (1, True) == (refused.returncode, "frepo-core<0.2,>=0.1 (from acme-pinned)" in refused.stderr)
    assert LINE in (ROOT / "CHANGES.md").read_text()

    assert 0 == install("--no-deps", pinned).returncode
    said = environment.run("sh", "-c", "frepo plugins 2>&1")
    assert "acme-pinned 1.0 requires frepo-core<0.2,>=0.1" in said
    assert LINE in said

    changed = build_package(tmp_path / "changed", LINE.strip('"').removeprefix("frepo-core "))
    assert 0 == install("--force-reinstall", "--no-deps", changed).returncode
    assert "requires frepo-core" not in environment.run("sh", "-c", "frepo plugins 2>&1")
    assert 0 == install("--upgrade", changed).returncode
