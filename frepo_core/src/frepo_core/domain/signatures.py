"""Hashes of token ids, signatures of links, and digests in headers."""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterator

LINK_SECONDS = 600
# How far the clocks of two machines that check each other's links may differ.
CLOCK_SKEW_SECONDS = 60
# Hexadecimal digits of a token's fingerprint: the shortest length that makes it unique.
FINGERPRINT_LENGTHS = range(12, 17)

# 256 bits from `openssl rand -hex 32`, or generated into app.secrets_file.
_RANDOM_PHRASE = re.compile("[0-9a-f]{64}")
_DIGEST = re.compile(r"([a-z0-9*_.-]+)=:([a-z0-9+/=]*):", re.IGNORECASE | re.ASCII)


def token_key(phrase: str, token_id: str) -> str:
    """Return the HMAC-SHA256 in hex under which a token is stored. A stolen database does not reveal token ids."""
    return hmac.digest(phrase.encode(), token_id.lower().encode(), "sha256").hex()


def enrolment_key(phrase: str, code: str) -> str:
    """Return the HMAC-SHA256 in hex under which a one-time code is stored. It is not that of a token with this id."""
    return hmac.digest(phrase.encode(), f"frepo enrolment\n{code}".encode(), "sha256").hex()


def badge_code(phrase: str, subject: str) -> str:
    """Return the HMAC-SHA256 in hex, 32 digits of it, that shows the badge of a collection, or of `all`."""
    return hmac.digest(phrase.encode(), f"frepo badge\n{subject}".encode(), "sha256").hex()[:32]


def phrase_checks(phrase: str, salt: str) -> Iterator[str]:
    """Yield the hashes of the phrase in hex that show at the next start whether it was changed; new ones are the first.

    For a random phrase it is an HMAC-SHA256. Others are hashed with scrypt (RFC 7914), which takes some 50 ms, so that
    a stolen database does not help to guess a short phrase. Earlier versions hashed all phrases with scrypt.
    """
    if _RANDOM_PHRASE.fullmatch(phrase):
        yield hmac.digest(phrase.encode(), f"frepo phrase\n{salt}".encode(), "sha256").hex()
    yield hashlib.scrypt(phrase.encode(), salt=salt.encode(), n=1 << 14, r=8, p=1, dklen=32).hex()


def fingerprint(key: str, length: int = FINGERPRINT_LENGTHS[0]) -> str:
    """Return the name of a token in logs and lists. It identifies the token and cannot be used as one."""
    return hashlib.sha256(key.encode()).hexdigest()[:length]


def sign_link(secret: str, stored_name: str, expires: int, *, unlocked: bool, password_hash: str | None = None) -> str:
    """Sign a link that is valid until `expires` (Unix time).

    With `unlocked`, it replaces the password whose hash this is, so it ends when the password is changed.
    """
    text = f"frepo link\n{stored_name}\n{expires}\n{'unlocked' if unlocked else 'locked'}"
    if unlocked and password_hash is not None:
        text += f"\n{password_hash}"
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()


def link_is_valid(
    secret: str,
    stored_name: str,
    expires: int,
    signature: str,
    *,
    now: float,
    unlocked: bool,
    password_hash: str | None = None,
) -> bool:
    """Return whether a link's signature is right (compared in constant time) and `expires` is in the future.

    A link that expires later than `LINK_SECONDS` allows was signed by a clock that runs ahead, and is invalid.
    """
    expected = sign_link(secret, stored_name, expires, unlocked=unlocked, password_hash=password_hash)
    in_time = now < expires <= now + LINK_SECONDS + CLOCK_SKEW_SECONDS
    return in_time and hmac.compare_digest(expected.encode(), signature.encode())


def repr_digest(digest: str) -> str:
    """Return a hex SHA-256 as the value of Repr-Digest (RFC 9530, 3)."""
    return f"sha-256=:{base64.b64encode(bytes.fromhex(digest)).decode()}:"


def parse_repr_digest(value: str) -> str | None:
    """Return the hex SHA-256 in a Repr-Digest or Content-Digest header (RFC 9530, 2 and 3), None if it has none.

    The last one counts (RFC 8941, 3.2). Raises `ValueError` if the header cannot be parsed.
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
    """Return the hex MD5 in a Content-MD5 header (RFC 1864). Raises `ValueError`."""
    return _decode(value.strip(), 16)


def _decode(text: str, length: int) -> str:
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error
    if len(raw) != length:
        raise ValueError(f"expected {length} bytes")
    return raw.hex()
