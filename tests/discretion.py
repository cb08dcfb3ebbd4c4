"""Reads what every test logs, at debug level, and fails the test whose log holds a token or password that it used.

SQLAlchemy logs statements without their parameters (`hide_parameters`), and is listened to in `test_secrets.py` alone.
"""

import logging
import re
from collections.abc import Iterator

import pytest

from frepo_core.services.passwords import Passwords
from frepo_core.services.tokens import Tokens

SHORTEST = 6  # shorter passwords of tests are parts of other words
used: set[str] = set()


class Listener(logging.Handler):
    """Keeps all that is logged."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(self.format(record))


@pytest.fixture(scope="session", autouse=True)
def _note_secrets() -> Iterator[None]:
    """Note each token that is made, and each password that is hashed or compared."""
    with pytest.MonkeyPatch.context() as patch:
        generate, hash_, fits = Tokens.generate, Passwords.hash, Passwords.fits

        def noting_generate(self, *arguments, **more):
            token = generate(self, *arguments, **more)
            used.add(token.id)
            return token

        def noting_hash(self, password, *arguments, **more):
            used.add(password or "")
            return hash_(self, password, *arguments, **more)

        def noting_fits(self, password, *arguments, **more):
            used.add(password or "")
            return fits(self, password, *arguments, **more)

        patch.setattr(Tokens, "generate", noting_generate)
        patch.setattr(Passwords, "hash", noting_hash)
        patch.setattr(Passwords, "fits", noting_fits)
        yield


@pytest.fixture(autouse=True)
def nothing_secret_is_logged() -> Iterator[None]:
    listener, root = Listener(), logging.getLogger()
    frepo = [
        logging.getLogger(name)
        for name in ("frepo_core", "frepo_storage_local", "frepo_storage_s3", "frepo_storage_ftp")
    ]
    before = [logger.level for logger in frepo]
    for logger in frepo:
        logger.setLevel(logging.DEBUG)
    root.addHandler(listener)
    used.clear()
    yield
    root.removeHandler(listener)
    for logger, level in zip(frepo, before, strict=True):
        logger.setLevel(level)
    text = "\n".join(listener.heard)
    told = sorted(one for one in used if len(one) >= SHORTEST and re.search(rf"\b{re.escape(one)}\b", text))
    assert told == [], text
