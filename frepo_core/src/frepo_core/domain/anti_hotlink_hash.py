"""Access tokens of protected download URLs: a hash of a template that is filled with values of the request."""

import hashlib
import hmac
import re
from collections.abc import Callable

_VARIABLE = re.compile(r"\$([a-z][a-z0-9_]*)")
_KNOWN = re.compile(r"expiration_time|filename|(http|query|server)_.+")


def expand_template(template: str, value_of: Callable[[str], str]) -> str:
    """Replace each `$name` with its value. Values are not expanded again."""
    return _VARIABLE.sub(lambda match: value_of(match[1]), template)


def find_unknown_variables(template: str) -> list[tuple[int, int]]:
    """Return the positions of unknown `$names` in a template: a misspelt name would protect nothing.

    A position is the first and the last character, counted from 1. The name itself may be part of the secret, and must
    not be shown.
    """
    found = _VARIABLE.finditer(template)
    return [(match.start() + 1, match.end()) for match in found if not _KNOWN.fullmatch(match[1])]


def needs_key(crypto: str) -> bool:
    """Return whether the hash needs a key, such as `hmac-sha256`."""
    return crypto.lower().startswith("hmac-")


def access_token(crypto: str, text: str, key: str) -> str:
    """Return the hash `crypto` of the text in lower-case hex; `hmac-<hash>` uses the key (RFC 2104).

    Raises `ValueError` if this Python does not have the hash.
    """
    name = crypto.lower().removeprefix("hmac-")
    if name not in hashlib.algorithms_available or name.startswith("shake"):
        raise ValueError(f"{crypto!r} is not a hash of this Python")
    if needs_key(crypto):
        return hmac.new(key.encode(), text.encode(), name).hexdigest()
    return hashlib.new(name, text.encode(), usedforsecurity=False).hexdigest()


def is_valid(given: str, expected: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(given.encode(), expected.encode())


def has_expired(expiration: str | None, *, now: float) -> bool:
    """Return whether a Unix time is over or not a number. A URL without one does not expire."""
    if expiration is None:
        return False
    if not (expiration.isascii() and expiration.isdigit() and len(expiration) < 16):
        return True
    return int(expiration) <= now
