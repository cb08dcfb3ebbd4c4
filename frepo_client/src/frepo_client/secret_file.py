"""Files with secrets: written completely or not at all, and readable by their owner alone."""

from __future__ import annotations

import os
import uuid

from .errors import ClientError
from .private_files import open_own, replacing, write
from .texts import read_text


def write_secret(path: str, text: str) -> None:
    """Write a file that only its owner can read, so that it survives a loss of power. Raises `ClientError`."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write(path, text)
    except OSError as error:
        raise ClientError(f"{path} cannot be written: {error.strerror}") from None


def replace_secret(path: str, text: str) -> None:
    """Write a file in place of another one, with its owner and its mode. Raises `ClientError`."""
    path = os.path.realpath(path)  # a link stays one
    try:
        with replacing(path, like=os.stat(path)) as file:
            file.write(text.encode())
    except OSError as error:
        raise ClientError(f"{path} cannot be written: {error.strerror}") from None


def pending_token(path: str) -> tuple[str, bool]:
    """Return the token in the file of one that was not confirmed yet, and whether it was there; write a new one else.

    It is written before it is sent: if the answer is lost, or the machine is, the same one is sent again. A file that
    another user has made is refused: he would know the token.
    """
    try:
        found = read_text(path, path, open_own).strip()
    except FileNotFoundError:
        found = ""
    if found:
        return found, True
    token = str(uuid.uuid4())
    write_secret(path, f"{token}\n")
    return token, False
