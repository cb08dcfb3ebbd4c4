"""Asks for secrets that storages lack, such as keys from a safe, while a recovery begins."""

import getpass
from collections.abc import Callable
from typing import TextIO, TypeVar

from frepo_core.errors import FrepoError, MissingSecretError

Result = TypeVar("Result")


def with_secrets(build: Callable[[], Result], stdin: TextIO) -> Result:
    """Return `build()`; as long as that lacks a secret, ask for it. Raises what `build` does if there is no answer."""
    while True:
        try:
            return build()
        except FrepoError as error:
            missing = _missing_in(error)
            text = _ask(missing.what, stdin) if missing else ""
            if not missing or not text:
                raise
        missing.enter(text)


def _missing_in(error: BaseException | None) -> MissingSecretError | None:
    """Return the error of a storage, which was wrapped to say what it is about."""
    while error is not None and not isinstance(error, MissingSecretError):
        error = error.__cause__
    return error


def _ask(what: str, stdin: TextIO) -> str:
    """Return a line that a terminal does not show; empty if there is none."""
    return (getpass.getpass(f"{what}: ") if stdin.isatty() else stdin.readline()).strip()
