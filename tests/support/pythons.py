"""Finds the Pythons that this machine has: `python -m support.pythons 3.13` prints the path of one."""

import shutil
import subprocess
import sys
from pathlib import Path


def find_python(version: str, named: str | None = None) -> str | None:
    """Return the path of a Python such as 3.12: the one that is named, that of PATH, or of pyenv; None: not found."""
    name = f"python{version}"
    versions = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/{name}"))
    for found in (named, shutil.which(name), *versions):
        # A shim of pyenv may have the name, and no such version.
        if found and not subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode:
            return str(found)
    return None


if __name__ == "__main__":
    sys.stdout.write(find_python(sys.argv[1]) or sys.exit(f"python{sys.argv[1]} was not found, nor one of pyenv"))
