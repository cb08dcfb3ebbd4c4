"""release/pinned.txt: the exact versions, with checksums, of what frepo needs in the Debian package and the image."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import distributions
from .sources import ROOT, Sources

FILE = ROOT / "release/pinned.txt"
EXTRAS = "s3,ftp,sealed,notify,metrics,postgresql,mysql"
# For Python from the oldest that frepo supports, on each system.
OPTIONS = ["--universal", "--python-version=3.11", "--generate-hashes", "--no-annotate", "--no-header", "--quiet"]


def choose(sources: Sources, target: Path) -> None:
    """Write the newest versions that fit the requirements of our distributions. Asks the package index."""
    program = Path(sys.executable).with_name("uv")
    if not program.exists():
        sys.exit("uv chooses the versions, and it is not installed: make .venv-release/installed")
    distributions.build_all(sources, target)
    own = sorted({path.name.partition("-")[0].replace("_", "-") for path in target.glob("*.whl")})
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "wanted.in"
        # From 80.9 on, setuptools warns at each start that Pyramid uses it.
        wanted.write_text(f"frepo[{EXTRAS}] == {sources.version}\nsetuptools < 80.9\n")
        left_out = [f"--no-emit-package={name}" for name in own]
        found = subprocess.run(
            [program, "pip", "compile", *OPTIONS, *left_out, "--find-links", target, wanted],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    lines = [line for line in found.splitlines() if not line.startswith(("--find-links", "# The following", "# frepo"))]
    FILE.write_text("# Written by `make pinned`.\n" + "\n".join(lines).strip() + "\n")
    shutil.rmtree(target)
