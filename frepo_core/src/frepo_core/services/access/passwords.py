"""Passwords of files and collections: hashed with argon2id, and protected against guessing.

All passwords of a service share one salt, so a listing needs only one argon2 hash (about 30 ms) to try a password on
all its files. The stored value is an HMAC of a random nonce, keyed with that hash: equal passwords are stored
differently.
"""

import base64
import hashlib
import hmac
import os
import re
import threading
import time

from argon2.low_level import Type, hash_secret_raw

from frepo_core.settings import Settings

from .password_attempts import PasswordAttempts

NO_READ_ACCESS = "No access to read the file, maybe invalid password?"
REMEMBER_SECONDS = 60
WINDOW_SECONDS = 600.0  # in which wrong passwords count
REMEMBER_AT_MOST = 10_000
COST = (19_456, 2, 1)  # KiB of memory, passes, lanes

# PHC strings. The old form, without the last part, contains the argon2 hash itself.
_STORED = re.compile(
    r"\$argon2id\$v=19\$m=([0-9]{1,7}),t=([0-9]{1,4}),p=([0-9]{1,3})\$([\w+/]+)\$([\w+/]+)(?:\$([\w+/]+))?", re.ASCII
)


class Passwords:
    """Hashes and checks passwords.

    The argon2 hashes of tried passwords are cached in memory for a minute, because a media player requests many ranges
    of one protected file. The cache's keys are keyed hashes; their key exists only in this process.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        secret = settings.app_secret.get_secret_value().encode() if settings else b""
        salt = hmac.digest(secret, b"salt of passwords", "sha256") if secret else os.urandom(16)
        self._salt = salt[:16]
        self._key = os.urandom(32)
        self._derived: dict[bytes, tuple[float, bytes]] = {}
        self._lock = threading.Lock()
        self.attempts = PasswordAttempts(limit=settings.password_attempts if settings else 0, window=WINDOW_SECONDS)

    def hash(self, password: str) -> str | None:
        """Return the value to store, or None for an empty password."""
        if not password:
            return None
        nonce = os.urandom(16)
        mark = hmac.digest(self._derive(password, self._salt, COST), nonce, "sha256")
        memory, passes, lanes = COST
        values = "$".join(map(_encode, (self._salt, nonce, mark)))
        return f"$argon2id$v=19$m={memory},t={passes},p={lanes}${values}"

    def matches(self, password: str, stored: str | None) -> bool:
        """Return whether the password matches the stored value. If nothing is stored, any password matches."""
        if not stored:
            return True
        match = _STORED.fullmatch(stored)
        if not password or not match:
            return False
        cost = (int(match[1]), int(match[2]), int(match[3]))
        derived = self._derive(password, _decode(match[4]), cost)
        if match[6] is None:
            return hmac.compare_digest(derived, _decode(match[5]))
        return hmac.compare_digest(hmac.digest(derived, _decode(match[5]), "sha256"), _decode(match[6]))

    def verify(self, password: str, stored: str | None, *, client: str) -> bool:
        """Return what `matches` returns, and count failures for the client's address.

        The versions of a collection share its stored value, so their failures are counted together.
        Raises `TooManyAttemptsError` if the client has failed too often.
        """
        if not stored or not password:
            return not stored
        self.attempts.require_left(stored, client)
        if self.matches(password, stored):
            return True
        self.attempts.add_failure(stored, client, password)
        return False

    def shares_salt(self, stored: str) -> bool:
        """Return whether the stored value uses the shared salt, so that checking it needs no further argon2 hash."""
        match = _STORED.fullmatch(stored)
        return match is not None and _decode(match[4]) == self._salt

    def _derive(self, password: str, salt: bytes, cost: tuple[int, int, int]) -> bytes:
        name = hmac.digest(self._key, repr((salt, cost, password)).encode(), hashlib.sha256)
        now = time.monotonic()
        with self._lock:
            until, derived = self._derived.get(name, (0.0, b""))
        if until > now:
            return derived
        memory, passes, lanes = cost
        derived = hash_secret_raw(password.encode(), salt, passes, memory, lanes, 32, Type.ID)
        with self._lock:
            if len(self._derived) >= REMEMBER_AT_MOST:
                self._derived.clear()
            self._derived[name] = (now + REMEMBER_SECONDS, derived)
        return derived


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4))
