"""Keyed hashes: token ids at rest, signed links to versions, and the headers that carry digests."""

import base64
import binascii
import hashlib
import hmac
import re

LINK_SECONDS = 600
# How far the clocks of two machines may differ that make and check each other's links.
CLOCK_SKEW_SECONDS = 60
# Hexadecimal digits of a token's fingerprint: the first length that no other token has.
FINGERPRINT_LENGTHS = range(12, 17)

_DIGEST = re.compile(r"([a-z0-9*_.-]+)=:([a-z0-9+/=]*):", re.IGNORECASE | re.ASCII)


def token_key(phrase: str, token_id: str) -> str:
    """Return the HMAC-SHA256 in hex under which a token is stored, so that a stolen database opens nothing."""
    return hmac.new(phrase.encode(), token_id.lower().encode(), hashlib.sha256).hexdigest()


def phrase_check(phrase: str, salt: str) -> str:
    """Return a value in hex that shows later whether a phrase is the same.

    It is slow to compute (some 50 ms), so that a stolen database does not help to guess a short phrase.
    """
    return hashlib.scrypt(phrase.encode(), salt=salt.encode(), n=1 << 14, r=8, p=1, dklen=32).hex()


def fingerprint(key: str, length: int = FINGERPRINT_LENGTHS[0]) -> str:
    """Return what logs may say of a token: it tells tokens apart and cannot be used as one."""
    return hashlib.sha256(key.encode()).hexdigest()[:length]


def sign_link(secret: str, stored_name: str, expires: int, *, unlocked: bool) -> str:
    """Sign a link to a stored name until `expires` (Unix seconds); `unlocked` stands for the password, too."""
    text = f"frepo link\n{stored_name}\n{expires}\n{'unlocked' if unlocked else 'locked'}"
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()


def link_is_valid(secret: str, stored_name: str, expires: int, signature: str, *, now: float, unlocked: bool) -> bool:
    """Check a link's signature in constant time, and that `expires` is in the future.

    A link that expires later than the longest life allows was signed by a clock that ran ahead, and is invalid.
    """
    expected = sign_link(secret, stored_name, expires, unlocked=unlocked)
    in_time = now < expires <= now + LINK_SECONDS + CLOCK_SKEW_SECONDS
    return in_time and hmac.compare_digest(expected.encode(), signature.encode())


def repr_digest(digest: str) -> str:
    """Write a hex SHA-256 as the value of Repr-Digest (RFC 9530, 3)."""
    return f"sha-256=:{base64.b64encode(bytes.fromhex(digest)).decode()}:"


def parse_repr_digest(value: str) -> str | None:
    """Return the hex SHA-256 in a Repr-Digest or Content-Digest field, None where it names other algorithms only.

    Of several the last counts (RFC 8941, 3.2). Raises `ValueError` for what is no such field (RFC 9530, 2 and 3).
    """
    found = None
    for item in value.split(","):
        match = _DIGEST.fullmatch(item.strip())
        if match is None:
            raise ValueError("expected sha-256=:<base64>:")
        if match[1].lower() == "sha-256":
            found = _decode(match[2], 32)
    return found


def parse_content_md5(value: str) -> str:
    """Return the hex MD5 in a Content-MD5 field (RFC 1864); raises `ValueError`."""
    return _decode(value.strip(), 16)


def _decode(text: str, length: int) -> str:
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error
    if len(raw) != length:
        raise ValueError(f"expected {length} bytes")
    return raw.hex()
