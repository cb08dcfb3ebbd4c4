"""Builds the console as its package is built: with the compressed form next to each text."""

import subprocess
import sys
from pathlib import Path

from support.paths import ROOT


def build_console(folder: Path) -> Path:
    """Build the console in an empty folder; return the folder to import `frepo_console` from."""
    command = [sys.executable, "setup.py", "-q", "egg_info", "-e", folder, "build_py", "--build-lib", folder / "lib"]
    subprocess.run(command, cwd=ROOT / "frepo_console", check=True, capture_output=True)
    return folder / "lib"
