"""Reading the files of text that an administrator has written, with errors that say what is wrong with one."""

from __future__ import annotations

import codecs
import os
from typing import Any, Callable

from .errors import UsageError

_LARGEST = 16 << 20
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_text(path: str, what: str, opener: Callable[[str, int], int] | None = None) -> str:
    """Return a file of text in UTF-8, also with a mark, or in UTF-16, as PowerShell writes it.

    `what` names it in messages, such as `env_file /etc/shop.env`; `opener` is that of the built-in `open`. Raises
    `FileNotFoundError`, and `UsageError` for everything else.
    """
    try:
        with open(path, "rb", opener=opener) as file:
            content = file.read(_LARGEST)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise UsageError(f"{what} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        text = content.decode("utf-16" if content.startswith(_UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{what} is not in UTF-8: see line {line}, and save it in that encoding") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UsageError(f"{what} has a byte of 0 in line {line}; save it as text in UTF-8")
    return text


def read_required(path: str, what: str) -> str:
    """Return a file as `read_text` does. Raises `UsageError` if it is missing, too."""
    try:
        return read_text(path, what)
    except FileNotFoundError as error:
        raise UsageError(f"{what} cannot be read: {error.strerror or os.strerror(error.errno or 2)}") from None


def plain_error(error: BaseException) -> str:
    """Return a sentence about an error that nobody expects here, with its place in the source."""
    text = getattr(error, "strerror", None) or str(error)
    place: Any = error.__traceback__
    while place and place.tb_next:
        place = place.tb_next
    where = f" ({os.path.basename(place.tb_frame.f_code.co_filename)}:{place.tb_lineno})" if place else ""
    return f"{type(error).__name__}: {text}{where}" if text else f"{type(error).__name__}{where}"
