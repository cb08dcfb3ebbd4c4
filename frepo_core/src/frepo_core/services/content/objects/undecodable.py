"""Finds the sound objects that cannot be decoded, because what they need is damaged or missing in their storage."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import StoredObject

from .decodable import MOST_LEVELS, is_decodable
from .states import CURRENT, ObjectState

# So many are found at most, so that a report costs the same however many there are.
MOST = 1000


def find_undecodable(session: Session, storage: str) -> Sequence[StoredObject]:
    """Return the current objects of a storage that are present and not decodable there, at most 1,000.

    Two statements if nothing is damaged: then all that is present is decodable.
    """
    found, level = list[StoredObject](), set[str]()
    for state in (ObjectState.DAMAGED, ObjectState.MISSING):  # one after the other: for both, SQLite reads the table
        bad = (StoredObject.storage == storage, StoredObject.state == state.value, StoredObject.slot == CURRENT)
        level |= set(session.scalars(select(StoredObject.digest).where(*bad).limit(MOST)))
    for _ in range(MOST_LEVELS):
        present = (StoredObject.storage == storage, StoredObject.state == ObjectState.PRESENT.value)
        needing = select(StoredObject).where(StoredObject.base_digest.in_(level), *present)
        rows = session.scalars(needing.where(StoredObject.slot == CURRENT).limit(MOST)).all() if level else ()
        rows = [row for row in rows if not is_decodable(session, row.digest, storage)]
        found, level = [*found, *rows], {row.digest for row in rows}
        if not rows or len(found) >= MOST:
            break
    return found[:MOST]
