"""Computes all that can be decoded in a storage at once, for what looks at each content: in memory, by digests."""

from collections import defaultdict
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import StoredObject

from .states import DELTA, SOUND, UNKNOWN


def find_decodable(session: Session, storage: str, *, read_since: datetime | None = None) -> set[str]:
    """Return the digests of the contents that a storage can decode, by what the records say: a least fixed point.

    With `read_since`, only objects count that were read since then, and so for what they need. It takes some hundred
    bytes of memory for each content.
    """
    query = select(StoredObject.digest, StoredObject.encoding, StoredObject.base_digest).where(
        StoredObject.storage == storage, StoredObject.state.in_(SOUND), StoredObject.encoding != UNKNOWN
    )
    if read_since is not None:
        query = query.where(StoredObject.read_at >= read_since)
    found, above = set[str](), defaultdict[str, list[str]](list)
    for digest, encoding, base in session.execute(query):
        if encoding != DELTA:
            found.add(digest)
        elif base is not None:
            above[base].append(digest)
    new = list(found)
    while new:
        new = [digest for base in new for digest in above.get(base, ()) if digest not in found]
        found.update(new)
    return found
