"""The file with the keys of a sealed storage: what a person types, and how it gets to the disk."""

import os
import secrets
from pathlib import Path

from frepo_core.plugins import ConfigurationError

KEY_BYTES = 32


def parse_key(line: str) -> bytes:
    """Return the key that a person has typed. Raises `ConfigurationError`."""
    try:
        secret = bytes.fromhex(line)
    except ValueError:
        secret = b""
    if len(secret) != KEY_BYTES:
        raise ConfigurationError("This is not a key: 64 hex digits are expected. No file was written")
    return secret


def write_keys(path: Path, text: str) -> None:
    """Write the file at once or not at all, readable for its owner alone. Raises `ConfigurationError`."""
    try:
        _write(path, text)
    except OSError as error:
        raise ConfigurationError(
            f"{path.absolute()} cannot be written by the user {os.getuid()}, as which this command runs: "
            f"{error.strerror}. Name a file in a folder of this user"
        ) from error


def _write(path: Path, text: str) -> None:
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
