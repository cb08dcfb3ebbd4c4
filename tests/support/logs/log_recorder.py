"""Records everything that a process logs at debug level, and the secrets that it must not log.

The process that runs the tests calls `record_logs`. Processes that it starts with `environment()` record their logs,
too, and so do their children, because Python imports `sitecustomize` when it starts. All write to the same two files:
`lines` has the lines that may contain a secret, `secrets` each token that was created or looked up, and each password
without the mark.
"""

import importlib.abc
import importlib.machinery
import logging
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from support.paths import TESTS

FOLDER = "FREPO_LOG_RECORDER"
# Only the passwords of tests, and the secrets of the tests' servers, contain this mark.
MARK = "5ecre7"
UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
# SQLAlchemy describes each statement and each row, which takes a tenth of the time of the tests: for the long form.
STATEMENTS, BIG = "sqlalchemy.", "FREPO_TEST_BIG"
# Only the beginning and the end of longer texts are recorded, for example of the bodies that botocore logs.
LONGEST = 1 << 16


def record_logs(folder: str) -> None:
    """Record the logs of this process and of its children from now on."""
    os.environ[FOLDER] = folder
    lines, secrets = (
        os.open(Path(folder, name), os.O_WRONLY | os.O_APPEND | os.O_CREAT) for name in ("lines", "secrets")
    )
    is_enabled, log, handle = logging.Logger.isEnabledFor, logging.Logger._log, logging.Logger.handle

    def recording_log(
        self: logging.Logger,
        level: int,
        msg: object,
        args: Any,
        exc_info: Any = None,
        extra: Any = None,
        stack_info: bool = False,
        stacklevel: int = 1,
    ) -> None:
        if exc_info or self.filters or is_enabled(self, level):
            log(self, level, msg, args, exc_info, extra, stack_info, stacklevel + 1)
        else:  # creating a record and finding the caller would take longer than everything else
            write(lines, f"{self.name}: {message(msg, args)}")

    def recording_handle(self: logging.Logger, record: logging.LogRecord) -> None:
        if self.filter(record):
            write(lines, text_of(record))
        if is_enabled(self, record.levelno):
            handle(self, record)

    big = BIG in os.environ

    def is_enabled_or_recorded(self: logging.Logger, level: int) -> bool:
        return big or not self.name.startswith(STATEMENTS) or is_enabled(self, level)

    logging.Logger.isEnabledFor = is_enabled_or_recorded  # type: ignore[method-assign]
    logging.Logger._log = recording_log  # type: ignore[method-assign]
    logging.Logger.handle = recording_handle  # type: ignore[method-assign]
    AfterImport("frepo_core.services.access.tokens", lambda module: note_tokens(module, secrets))
    AfterImport("frepo_core.services.access.passwords", lambda module: note_passwords(module.Passwords, secrets))


def environment() -> dict[str, str]:
    """Return the variables that make a process record its logs if it does not inherit this environment."""
    if FOLDER not in os.environ:
        return {}
    kept = {name: os.environ[name] for name in (FOLDER, BIG) if name in os.environ}
    return kept | {"PYTHONPATH": str(TESTS)}


def record_output(text: str) -> None:
    """Record the text that a process printed on stderr."""
    if FOLDER in os.environ:
        with Path(os.environ[FOLDER], "lines").open("ab") as lines:
            for line in text.splitlines():
                write(lines.fileno(), line)


def write(file: int, text: str) -> None:
    folded = text.casefold()
    if MARK in folded or UUID.search(folded):
        os.write(file, f"{text}\n".encode(errors="replace"))


def text_of(record: logging.LogRecord) -> str:
    """Return the message of a record, with its traceback."""
    text = f"{record.name}: {message(record.msg, record.args)}"
    if record.exc_info and record.exc_info[0]:
        text += "\n" + "".join(traceback.format_exception(*record.exc_info))
    return text


def message(msg: object, args: Any) -> str:
    """Return the result of `LogRecord.getMessage`, without the middle of long bodies."""
    if type(args) is tuple and len(args) == 1 and isinstance(args[0], Mapping) and args[0]:
        args = args[0]
    return str(msg) % _shortened(args) if args else str(msg)


def _shortened(value: Any) -> Any:
    """Return the logged value without the middle of long bodies."""
    if isinstance(value, (bytes, bytearray, str)) and len(value) > LONGEST:
        return value[: LONGEST // 2], value[-LONGEST // 2 :]
    if type(value) is dict:
        return {key: _shortened(item) for key, item in value.items()}
    return tuple(map(_shortened, value)) if type(value) is tuple else value


def note_tokens(tokens: Any, secrets: int) -> None:
    """Record each token that is created or looked up."""
    token_key = tokens.token_key

    def noting_key(phrase: str, token_id: str) -> str:
        write(secrets, token_id)
        return str(token_key(phrase, token_id))

    tokens.token_key = noting_key


def note_passwords(passwords: Any, secrets: int) -> None:
    """Record each password without the mark."""
    hash_, matches = passwords.hash, passwords.matches

    def note_unmarked(password: str) -> None:
        if password and MARK not in password.casefold():
            os.write(secrets, f"password {password!r}\n".encode(errors="replace"))

    def noting_hash(self: Any, password: str) -> Any:
        note_unmarked(password)
        return hash_(self, password)

    def noting_fits(self: Any, password: str, stored: str | None) -> Any:
        note_unmarked(password)
        return matches(self, password, stored)

    passwords.hash, passwords.matches = noting_hash, noting_fits


class AfterImport(importlib.abc.MetaPathFinder):
    """Call `then` with a module as soon as it is imported."""

    def __init__(self, name: str, then: Callable[[ModuleType], None]) -> None:
        self._name, self._then = name, then
        if name in sys.modules:
            then(sys.modules[name])
        else:
            sys.meta_path.insert(0, self)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def execute_and_call(module: ModuleType) -> None:
                execute(module)
                self._then(module)

            spec.loader.exec_module = execute_and_call  # type: ignore[method-assign]
        return spec
