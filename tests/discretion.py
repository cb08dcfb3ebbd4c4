"""Reads what every test logs, at debug level, and fails the test whose log holds a token or a password.

The log of a service that is a process of its own is read when it stops (`servers.service`).
"""

import logging
from collections.abc import Iterator

import pytest

from servers.loud import listen_to_all, may_tell, note_secrets, secrets_in

# What they say goes to the listener alone: it is too much to be kept for the report of a test.
TALKATIVE = ("sqlalchemy", "botocore", "boto3", "s3transfer", "urllib3")
used: set[str] = set()


class Listener(logging.Handler):
    """Keeps the lines that may tell a secret."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if may_tell(text := self.format(record)):
            self.lines.append(text)


def pytest_configure() -> None:
    """Have all logged. pytest itself keeps what is INFO and more (`log_level`): a whole run at DEBUG is gigabytes."""
    listen_to_all()


@pytest.fixture(scope="session", autouse=True)
def listener() -> Iterator[Listener]:
    note_secrets(used.add)
    listener = Listener()
    logging.getLogger().addHandler(listener)
    for name in TALKATIVE:
        logger = logging.getLogger(name)
        logger.propagate = False
        logger.addHandler(listener)
    yield listener
    _assert_discreet(listener)


@pytest.fixture(autouse=True)
def nothing_secret_is_logged(listener: Listener) -> Iterator[None]:
    yield
    _assert_discreet(listener)


def _assert_discreet(listener: Listener) -> None:
    """Read what was logged since the last time."""
    text = "\n".join(listener.lines)
    listener.lines.clear()
    unmarked = {one for one in used if one.startswith("password ")}
    used.difference_update(unmarked)
    assert secrets_in(text, used) == set(), text
    assert unmarked == set(), "a password of a test holds no MARK"
