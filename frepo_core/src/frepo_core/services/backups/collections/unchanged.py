"""Which collections get the same content again and again: the job may run, and dump something that nobody writes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Collection

from ...base.records import CollectionRecord

# From how many nights on reports name a collection.
NIGHTS = 7
_UNCHANGED = Collection.baseline["unchanged_nights"].as_integer()


@dataclass(frozen=True, kw_only=True)
class UnchangedCollections:
    """How many collections got the same content on at least `nights` later days; some of them, the longest first."""

    nights: int
    number: int
    collections: Sequence[CollectionRecord]


def is_unchanged(nights: int) -> ColumnElement[bool]:
    """Return the condition that the newest content has arrived again on at least so many later days."""
    return func.coalesce(_UNCHANGED, 0) >= nights


def read_unchanged(
    session: Session, limit: int, *, nights: int = NIGHTS, visible: Iterable[ColumnElement[bool]] = ()
) -> UnchangedCollections:
    """Return the collections that got the same content for `nights`; at most `limit` of those `visible` are named."""
    number = session.scalar(select(func.count()).select_from(Collection).where(is_unchanged(nights)))
    query = select(Collection).where(is_unchanged(nights), *visible).order_by(_UNCHANGED.desc(), Collection.id)
    rows = session.scalars(query.limit(limit))
    return UnchangedCollections(
        nights=nights, number=number or 0, collections=[CollectionRecord.of(row) for row in rows]
    )
