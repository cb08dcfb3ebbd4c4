"""SHA256SUMS, which `sha256sum --check` reads, and its signature, which `gpg --verify` reads."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

NAME = "SHA256SUMS"


def write(target: Path) -> None:
    """Write the checksums of all files of the folder."""
    files = [path for path in sorted(target.iterdir()) if path.name != NAME]
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (target / NAME).write_text("".join(lines))


def has_key(key: str) -> bool:
    """Tell whether gpg can sign with a key: its fingerprint, its id or an address."""
    if not shutil.which("gpg"):
        return False
    return not subprocess.run(["gpg", "--list-secret-keys", key], capture_output=True, check=False).returncode


def sign(target: Path, key: str) -> None:
    """Write SHA256SUMS.asc. gpg may ask for the passphrase of the key."""
    command = ["gpg", "--quiet", "--local-user", key, "--armor", "--detach-sign", str(target / NAME)]
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"gpg has not signed with the key {key!r}, for the reason above")
