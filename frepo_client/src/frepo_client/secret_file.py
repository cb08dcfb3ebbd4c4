"""Files with secrets: written completely or not at all, and readable by their owner alone."""

from __future__ import annotations

import contextlib
import os
import uuid

from .errors import ClientError, UsageError

ONLY_OWNER = 0o600


def write_secret(path: str, text: str) -> None:
    """Write a file that only its owner can read, so that it survives a loss of power. Raises `ClientError`."""
    new = f"{path}.{uuid.uuid4().hex[:8]}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, ONLY_OWNER), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except OSError as error:
        delete(new)
        raise ClientError(f"{path} cannot be written: {error.strerror}") from None


def replace_secret(path: str, text: str) -> None:
    """Write a file in place of another one, with its owner and its mode. Raises `ClientError`."""
    path = os.path.realpath(path)  # a link stays one
    before, new = os.stat(path), f"{path}.next"
    write_secret(new, text)
    try:
        if hasattr(os, "chown") and os.geteuid() == 0:
            os.chown(new, before.st_uid, before.st_gid)
        os.chmod(new, before.st_mode & 0o777)
        os.replace(new, path)
    except OSError as error:
        delete(new)
        raise ClientError(f"{path} cannot be written: {error.strerror}") from None


def pending_token(path: str) -> tuple[str, bool]:
    """Return the token in the file of one that was not confirmed yet, and whether it was there; write a new one else.

    It is written before it is sent: if the answer is lost, or the machine is, the same one is sent again.
    """
    try:
        with open(path, encoding="utf-8") as file:
            found = file.read().strip()
    except FileNotFoundError:
        found = ""
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    if found:
        return found, True
    token = str(uuid.uuid4())
    write_secret(path, f"{token}\n")
    return token, False


def delete(path: str) -> None:
    """Delete a file that may not exist."""
    with contextlib.suppress(OSError):
        os.remove(path)
