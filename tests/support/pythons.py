"""Finds the Pythons that this machine has: `python -m support.pythons 3.13` prints the path of one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from frepo_client import OLDEST_PYTHON
from support.paths import ROOT

PROMISED = "{}.{}".format(*OLDEST_PYTHON)


def find_python(version: str, *named: str | Path | None) -> str | None:
    """Return the path of a Python such as 3.12: one that is named, that of PATH, or of pyenv; None: not found."""
    name = f"python{version}"
    versions = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/{name}"))
    for found in (*named, shutil.which(name), *versions):
        # A shim of pyenv may have the name, and no such version.
        if found and Path(found).exists() and _version(found) == version:
            return str(found)
    return None


def find_oldest() -> str:
    """Return the oldest Python that the client promises. Skips the test if there is none."""
    found = find_python(PROMISED, os.environ.get("FREPO_OLDEST_PYTHON"), ROOT / ".venv-oldest/python")
    return found or pytest.skip(f"python{PROMISED} is not installed: make services, or FREPO_OLDEST_PYTHON")


def _version(python: str | Path) -> str:
    command = [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.stdout.write(find_python(sys.argv[1]) or sys.exit(f"python{sys.argv[1]} was not found, nor one of pyenv"))
