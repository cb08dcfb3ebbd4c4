"""Fails a test if it, or a process that it started, logged a token or a password.

All loggers are recorded at debug level, see `logs.log_recorder`, and so is the stderr of processes.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.logs import log_recorder

# The first two values that Hypothesis tries for any id.
SIMPLEST = "00000000-0000-4000-8000-000000000000"


class RecordedLogs:
    """The records in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read = {"lines": 0, "secrets": 0}
        self.used: set[str] = set()

    def assert_no_secrets(self) -> None:
        """Search the records since the last call for all secrets used so far."""
        text, noted = self._more("lines"), set(self._more("secrets").splitlines())
        unmarked = {one for one in noted if one.startswith("password ")}
        self.used |= noted - unmarked - {SIMPLEST}
        assert secrets_in(text, self.used) == set(), text
        assert unmarked == set(), "a password of a test holds no MARK"

    def assert_no_secrets_at_all(self) -> None:
        """Search all records."""
        self._read["lines"] = 0
        self.assert_no_secrets()

    def _more(self, name: str) -> str:
        with (self._folder / name).open("rb") as file:
            file.seek(self._read[name])
            more = file.read()
        self._read[name] += len(more)
        return more.decode(errors="replace")


def secrets_in(text: str, used: set[str]) -> set[str]:
    """Return the used tokens in a log, and its words that have the mark of a password."""
    text = text.casefold()
    marked = re.findall(rf"\S*{log_recorder.MARK}\S*", text) if log_recorder.MARK in text else []
    return set(marked) | set(log_recorder.UUID.findall(text)).intersection(used)


@pytest.fixture(scope="session", autouse=True)
def recorded_logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedLogs]:
    folder = tmp_path_factory.mktemp("recorded-logs")
    log_recorder.record_logs(str(folder))
    recorded_logs = RecordedLogs(folder)
    yield recorded_logs
    del os.environ[log_recorder.FOLDER]
    recorded_logs.assert_no_secrets_at_all()


@pytest.fixture(autouse=True)
def nothing_secret_is_logged(recorded_logs: RecordedLogs) -> Iterator[None]:
    yield
    recorded_logs.assert_no_secrets()
