"""Searches collections for the first API, by numbered pages."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import text_expressions
from frepo_core.db.models import Collection, CollectionToken
from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import allows
from frepo_core.domain.structs import struct

from ...base.keyset import COUNT_AHEAD, NumberedPage, last_page, offset
from ...base.records import CollectionRecord

_NEWEST = (Collection.created_at.desc(), Collection.id.desc())


@struct
class CollectionSearch:
    """A search for collections. Days are inclusive, in UTC. The collection must list one of the keys `tokens`."""

    text: str = ""
    created_from: date | None = None
    created_to: date | None = None
    tokens: Sequence[str] = ()
    page: int = 1
    size: int = 20


def search_collections(session: Session, search: CollectionSearch, *, by: Identity) -> NumberedPage[CollectionRecord]:
    """Return a page of the collections that the token may see, newest first."""
    ids = select(Collection.id).where(*_conditions(search, by)).order_by(*_NEWEST)
    before = offset(search.page, search.size)
    counted = ids.limit(before + search.size + COUNT_AHEAD)
    total = session.scalar(select(func.count()).select_from(counted.subquery())) or 0
    page = session.scalars(ids.limit(search.size).offset(before)).all()
    rows = session.scalars(select(Collection).where(Collection.id.in_(page)).order_by(*_NEWEST)).all()
    records = [CollectionRecord.of(row) for row in rows]
    return NumberedPage(rows=records, number=search.page, last=last_page(total, search.size), size=search.size)


def lists_one_of(keys: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that a collection lists one of the tokens."""
    return Collection.id.in_(select(CollectionToken.collection_id).where(CollectionToken.token_key.in_(keys)))


def visible_to(by: Identity) -> list[ColumnElement[bool]]:
    """Return the condition that the token may see a collection; none if it sees all."""
    return [] if allows("collection.fetch", by) else [lists_one_of([by.token])]


def _conditions(search: CollectionSearch, by: Identity) -> list[ColumnElement[bool]]:
    conditions = visible_to(by)
    if text := search.text.strip("*"):
        columns = (Collection.filename, Collection.description, Collection.id)
        conditions.append(or_(*(text_expressions.contains(column, text) for column in columns)))
    if search.created_from:
        conditions.append(Collection.created_at >= _midnight(search.created_from))
    if search.created_to and search.created_to < date.max:
        conditions.append(Collection.created_at < _midnight(search.created_to + timedelta(days=1)))
    if search.tokens:
        conditions.append(lists_one_of(search.tokens))
    return conditions


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
