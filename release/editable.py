"""Installs what a file of requirements names, as `pip install -r FILE` does: `python -m release.editable FILE`.

pip starts three processes for each part of this project, which takes half of the time of the first `make serve`. Here
one process builds them all.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path

from setuptools import build_meta

PART = re.compile(r"-e (?P<folder>\./\w+)(?P<extras>\[\w+\])?")


def main(file: str, *options: str) -> int:
    """Install what a file of requirements names, in the folder that has it; return the status of pip."""
    with tempfile.TemporaryDirectory(prefix="frepo-editable-") as folder:
        requirements = [line for line in Path(file).read_text().splitlines() if not line.startswith("#")]
        required = [installable(line, Path(folder)) for line in requirements]
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", *options]
        known = {distribution.name for distribution in distributions()}
        if status := subprocess.run([*command, *required], check=False).returncode:
            return status
        # pip passes over a version that is installed; its entry points and dependencies may have changed.
        again = [one for one in required if one.startswith(folder) and _name(one) in known]
        command += ["--force-reinstall", "--no-deps"]
        return subprocess.run([*command, *again], check=False).returncode if again else 0


def installable(requirement: str, target: Path) -> str:
    """Return the requirement, or the wheel that was built into the target if it is a part of this project."""
    part = PART.fullmatch(requirement)
    if not part:
        return requirement
    output = io.StringIO()  # hints about names and editable mode, which pip does not show either
    with contextlib.chdir(part["folder"]), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        wheel = build_meta.build_editable(os.fspath(target))
    return f"{target / wheel}{part['extras'] or ''}"


def _name(wheel: str) -> str:
    return Path(wheel).name.partition("-")[0].replace("_", "-")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
