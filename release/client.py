"""The client for servers that are backed up, as one file."""

import subprocess
import sys
from pathlib import Path

from .sources import Sources


def build(sources: Sources, target: Path) -> None:
    """Write frepo-client.pyz."""
    subprocess.run(
        [sys.executable, "-P", "-m", "frepo_client.zipapp", str(target / "frepo-client.pyz")],
        env=sources.environment | {"PYTHONPATH": str(sources.folder / "frepo_client/src")},
        check=True,
    )
