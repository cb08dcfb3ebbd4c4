"""Passwords of files and collections: argon2, and a short memory of those that were right."""

import hashlib
import hmac
import os
import threading
import time

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

REMEMBER_SECONDS = 60
REMEMBER_AT_MOST = 10_000


class Passwords:
    """Hashes and checks passwords.

    A player asks for many ranges of one protected file, and each check costs some 30 ms: what was right
    is remembered for a minute, as a keyed hash with a key that lives as long as the process.
    """

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
        self._key = os.urandom(32)
        self._known: dict[bytes, float] = {}
        self._lock = threading.Lock()

    def hash(self, password: str) -> str | None:
        """Return the hash to store; an empty password is none."""
        return self._hasher.hash(password) if password else None

    def fits(self, password: str, stored: str | None) -> bool:
        """Tell whether the password opens what is stored; nothing stored opens for everyone."""
        if not stored:
            return True
        if not password:
            return False
        mark = hmac.new(self._key, f"{stored}\n{password}".encode(), hashlib.sha256).digest()
        if self._is_known(mark):
            return True
        try:
            self._hasher.verify(stored, password)
        except (VerificationError, InvalidHashError):
            return False
        self._remember(mark)
        return True

    def _is_known(self, mark: bytes) -> bool:
        with self._lock:
            return self._known.get(mark, 0) > time.monotonic()

    def _remember(self, mark: bytes) -> None:
        with self._lock:
            if len(self._known) >= REMEMBER_AT_MOST:
                self._known.clear()
            self._known[mark] = time.monotonic() + REMEMBER_SECONDS
