"""SHA256SUMS, which `sha256sum --check` reads."""

import hashlib
from pathlib import Path

NAME = "SHA256SUMS"


def write(target: Path) -> None:
    """Write the checksums of all files of the folder."""
    files = [path for path in sorted(target.iterdir()) if path.name != NAME]
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (target / NAME).write_text("".join(lines))
