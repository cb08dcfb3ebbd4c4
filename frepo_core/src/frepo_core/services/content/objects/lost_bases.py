"""Finds the contents that cannot be read although their own objects are sound: what these need is lost."""

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import Content, StoredObject

from .decodable import MOST_LEVELS
from .states import DELTA, SOUND
from .uses import is_lost

# So many are found at most, so that a report costs the same however many there are.
MOST = 1000


def find_above_lost(session: Session) -> set[str]:
    """Return the digests of the contents all of whose sound objects need a content that is lost, at most 1,000.

    A base is read from whatever object has it, also from one that was superseded. One statement if nothing is lost.
    """
    doubted = set(session.scalars(select(Content.digest).where(is_lost()).limit(MOST)))
    lost = _without_readable(session, doubted, doubted)
    found, level = set[str](), lost
    for _ in range(MOST_LEVELS):
        if not level or len(found) >= MOST:
            break
        needing = select(StoredObject.digest).where(StoredObject.base_digest.in_(level), StoredObject.state.in_(SOUND))
        level = set(session.scalars(needing.limit(MOST))) - lost
        level = _without_readable(session, level, lost)
        found, lost = found | level, lost | level
    return found


def _without_readable(session: Session, digests: Collection[str], lost: Collection[str]) -> set[str]:
    """Return those of the contents of which each sound object needs one that is lost, or that have none."""
    if not digests:
        return set()
    query = select(StoredObject).where(StoredObject.digest.in_(digests), StoredObject.state.in_(SOUND))
    readable = {row.digest for row in session.scalars(query) if row.encoding != DELTA or row.base_digest not in lost}
    return set(digests) - readable
