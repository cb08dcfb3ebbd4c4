"""The rules of one-time codes, with which a host enrols itself: it sends a code, and gets the rights of a token."""

import secrets
from datetime import datetime, timedelta

from .identity import derived_uuid4
from .roles import Role

CODE_LIFETIME = timedelta(days=7)
# A host whose answer was lost may send the same pair of code and token again for this long.
REPEAT_WITHIN = timedelta(hours=1)
# What a cron job needs: it cannot delete a version.
UPLOADER_ROLES = (Role.UPLOAD_VERSIONS, Role.LIST_VERSIONS)

OPEN, USED, EXPIRED = "open", "used", "expired"


def new_code() -> str:
    """Return a new code: 128 random bits as 32 hexadecimal digits."""
    return secrets.token_hex(16)


def code_state(*, used_at: datetime | None, expires_at: datetime, now: datetime) -> str:
    """Return `open`, `used` or `expired`."""
    if used_at is not None:
        return USED
    return OPEN if now < expires_at else EXPIRED


def is_repetition(*, used_at: datetime | None, token_key: str | None, sent_key: str, now: datetime) -> bool:
    """Return whether a used code is sent again with the token that it was used with, soon enough to be answered."""
    return used_at is not None and token_key == sent_key and now <= used_at + REPEAT_WITHIN


def collection_of_host(origin: str, host: str) -> str:
    """Return the id of a host's collection. `origin` is the id of the database in which hosts were enrolled first."""
    return derived_uuid4(origin, "fleet", host)
