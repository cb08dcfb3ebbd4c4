"""The SBOM: what the Debian package and the image contain, in the format of CycloneDX."""

import subprocess
import sys
from pathlib import Path

from .debian import HOME
from .sources import Sources


def write(sources: Sources, target: Path) -> None:
    """Write the SBOM of the environment that the Debian package has; it is built before."""
    python = sources.folder.with_name("debian") / HOME / "bin/python3"
    program = Path(sys.executable).with_name("cyclonedx-py")
    if not program.exists():
        sys.exit("cyclonedx-py writes the SBOM, and it is not installed: make .venv-release/installed")
    if not python.exists():
        sys.exit("The SBOM names what the Debian package has: build the part `debian`, too")
    options = ["--output-reproducible", "--output-format=JSON", "--validate"]
    output = target / f"frepo-{sources.version}.cdx.json"
    subprocess.run(
        [program, "environment", *options, "--output-file", output, python], env=sources.environment, check=True
    )
