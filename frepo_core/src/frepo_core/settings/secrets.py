"""Generates the secrets of a development service once and keeps them in a file that only its owner can read."""

import errno
import fcntl
import json
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from frepo_core.errors import ConfigurationError

# exFAT and some CIFS servers know no links.
NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EINVAL}


def read_or_make_secrets(path: Path, names: Sequence[str]) -> dict[str, str]:
    """Return the secrets in the file; if it does not exist, create it (mode 0600) with new secrets.

    Two processes that start at the same time get the same secrets, because the file is created atomically.
    Raises `ConfigurationError` if the file cannot be created or used.
    """
    try:
        if not path.exists():
            _make(path, names)
    except OSError as error:
        raise ConfigurationError(
            f"app.secrets_file (APP_SECRETS_FILE): {path} cannot be created: {type(error).__name__}: {error}. Let this "
            "user write to the folder, or name a file on another disk"
        ) from error
    try:
        found = json.loads(path.read_text())
        if not all(isinstance(found[name], str) and found[name] for name in names):
            raise ValueError("a secret is empty or is not a text")
        return {name: found[name] for name in names}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"app.secrets_file (APP_SECRETS_FILE): {path} cannot be used: {error}. Repair or remove the file; "
            "removing it voids all tokens."
        ) from error


def replace_secrets(path: Path, values: Mapping[str, str]) -> None:
    """Write these secrets into the file (mode 0600) in place of those that it has.

    Raises `ConfigurationError` if the file cannot be written.
    """
    try:
        _write(path, values, os.replace)
    except OSError as error:
        raise ConfigurationError(
            f"app.secrets_file (APP_SECRETS_FILE): {path} cannot be written: {error.strerror}"
        ) from error


def _make(path: Path, names: Sequence[str]) -> None:
    _write(path, {name: secrets.token_hex(32) for name in names}, _publish)


def _write(path: Path, values: Mapping[str, str], publish: Callable[[Path, Path], None]) -> None:
    """Write the secrets to a draft, and let `publish` give it its final name.

    Both are on the disk then: after a power cut, nobody could read what was made with secrets that are lost.
    """
    _make_folder(path.parent)
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            json.dump(dict(values), file)
            file.flush()
            os.fsync(file.fileno())
        publish(draft, path)
        _sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _publish(draft: Path, path: Path) -> None:
    """Give the draft its final name, unless another process was faster: then its secrets count."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        _rename_locked(draft, path)


def _rename_locked(draft: Path, path: Path) -> None:
    """Rename the draft while no other process does the same: renaming replaces a file that exists."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if not path.exists():
            os.rename(draft, path)
    finally:
        os.close(folder)


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
