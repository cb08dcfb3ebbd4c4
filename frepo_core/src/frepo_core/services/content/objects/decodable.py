"""Computes what can be decoded in a storage: the least fixed point, in which two that need each other are not.

An object is decodable if it is raw or compressed, or a difference to a content of which an object is decodable in the
same storage. Each difference needs one content, so that is: a raw or compressed object can be reached.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import StoredObject

from .states import CURRENT, DELTA, SOUND, UNKNOWN, ObjectState

# Encodings are made less deep than this.
MOST_LEVELS = 12
Path = list[StoredObject]


def find_path(
    session: Session,
    digest: str,
    storage: str,
    *,
    without: Collection[int] = (),
    allows: Callable[[StoredObject], bool] = lambda row: True,
    states: Collection[ObjectState] = SOUND,
) -> Path | None:
    """Return the objects that are read for a content in a storage: its own, and then those of its bases.

    None if it is not decodable there. Objects with the ids `without`, and those that `allows` refuses, do not count.
    """
    paths: dict[str, Path] = {digest: []}
    seen: set[str] = set()
    for _ in range(MOST_LEVELS + 1):
        found = _sound(session, paths.keys(), storage, states)
        rows = [row for row in found if row.id not in without and allows(row)]
        for row in rows:
            if row.encoding != DELTA:
                return [*paths[row.digest], row]
        seen |= paths.keys()
        paths = {
            row.base_digest: [*paths[row.digest], row]
            for row in rows
            if row.base_digest is not None and row.base_digest not in seen
        }
        if not paths:
            return None
    return None


def is_decodable(session: Session, digest: str, storage: str, *, without: Collection[int] = ()) -> bool:
    """Return whether a content can be decoded in a storage without these objects."""
    return find_path(session, digest, storage, without=without) is not None


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


def find_base_path(session: Session, row: StoredObject, base_digest: str, storage: str) -> Path | None:
    """Return what is read for the base, if an object becomes a difference to it; None if that cannot be decoded.

    Only by current objects that are present, and not by the content of the object itself: no two need each other.
    """

    def is_other(one: StoredObject) -> bool:
        return one.digest != row.digest and one.slot == CURRENT and one.state == ObjectState.PRESENT

    return find_path(session, base_digest, storage, allows=is_other)


def find_dependents(
    session: Session,
    digest: str,
    storage: str,
    *,
    only_current: bool = False,
    states: Collection[ObjectState] = SOUND,
) -> Iterator[list[StoredObject]]:
    """Yield the objects in a storage that need a content as their base, then those that need these, and so on.

    Each content once: two of them may need each other. What was superseded is left out with `only_current`.
    """
    level, seen = {digest}, {digest}
    while level:
        needing = select(StoredObject).where(StoredObject.base_digest.in_(level), StoredObject.storage == storage)
        if only_current:
            needing = needing.where(StoredObject.slot == CURRENT)
        rows = list(session.scalars(needing.where(StoredObject.state.in_(states)).order_by(StoredObject.id)))
        level = {row.digest for row in rows} - seen
        if rows := [row for row in rows if row.digest in level]:
            yield rows
        seen |= level


def _sound(
    session: Session, digests: Collection[str], storage: str, states: Collection[ObjectState]
) -> list[StoredObject]:
    """Return the sound objects of contents in a storage: the current ones first."""
    query = select(StoredObject).where(StoredObject.digest.in_(digests), StoredObject.storage == storage)
    query = query.where(StoredObject.state.in_(states), StoredObject.encoding != UNKNOWN)
    return sorted(session.scalars(query), key=lambda row: (row.slot is None, row.id))
