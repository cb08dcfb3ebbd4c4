"""Access tokens of protected download URLs: a hash over a template with the request's own values."""

import hashlib
import hmac
import re
from collections.abc import Callable

_VARIABLE = re.compile(r"\$([a-z][a-z0-9_]*)")
_KNOWN = re.compile(r"expiration_time|filename|(http|query|server)_.+")


def fill_in(template: str, value_of: Callable[[str], str]) -> str:
    """Put values in the place of `$names`; values that are filled in are not expanded again."""
    return _VARIABLE.sub(lambda match: value_of(match[1]), template)


def unknown_variables(template: str) -> list[tuple[int, int]]:
    """Return where the `$names` in a template are that no request can have; misspelt ones would protect nothing.

    First and last character, counted from 1: what is there may be a part of the secret, and is not to be said.
    """
    found = _VARIABLE.finditer(template)
    return [(match.start() + 1, match.end()) for match in found if not _KNOWN.fullmatch(match[1])]


def is_keyed(crypto: str) -> bool:
    """Return whether the hash needs a key: `hmac-sha256` and the like."""
    return crypto.lower().startswith("hmac-")


def access_token(crypto: str, text: str, key: str) -> str:
    """Return the lower-case hex of the hash `crypto` over the text; `hmac-<hash>` uses the key.

    Raises `ValueError` for a hash that this Python does not have.
    """
    name = crypto.lower().removeprefix("hmac-")
    if name not in hashlib.algorithms_available or name.startswith("shake"):
        raise ValueError(f"{crypto!r} is no hash of this Python")
    if is_keyed(crypto):
        return hmac.new(key.encode(), text.encode(), name).hexdigest()
    return hashlib.new(name, text.encode(), usedforsecurity=False).hexdigest()


def is_valid(given: str, expected: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(given.encode(), expected.encode())


def has_expired(expiration: str | None, *, now: float) -> bool:
    """Tell whether a Unix time is over, or is none; a URL without one does not expire."""
    if expiration is None:
        return False
    if not (expiration.isascii() and expiration.isdigit() and len(expiration) < 16):
        return True
    return int(expiration) <= now
