"""Reads collections with their newest versions: pages of them for the second API, and one of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, CollectionToken, Version
from frepo_core.domain.access import allows
from frepo_core.domain.identity import Identity

from ..files.file_query import contains
from ..keyset import Page, PageRequest, cut, paged
from ..records import CollectionRecord, VersionRecord
from .version_rows import select_with_files

# What pages can be ordered by. Each has an index together with the id.
ORDERS: Mapping[str, InstrumentedAttribute[Any]] = {
    "name": Collection.filename,
    "created_at": Collection.created_at,
    "stored_size": Collection.stored_size,
}


@dataclass(frozen=True, kw_only=True)
class CollectionFilter:
    """Which collections: name, description or id contain `text` in any case, and they have this strategy; empty: any."""

    text: str = ""
    strategy: str = ""


@dataclass(frozen=True, kw_only=True)
class CollectionDetails:
    """A collection and its newest version, None if it has none."""

    record: CollectionRecord
    newest: VersionRecord | None


class CollectionPages:
    """Lists collections for readers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, wanted: CollectionFilter, page: PageRequest, *, by: Identity) -> Page[CollectionDetails]:
        """Return a page of the collections that the token may see, by one of `ORDERS`. Raises `FieldsError`."""
        query = select(Collection).where(*_conditions(wanted, by))
        column = ORDERS[page.sort]
        with self._database.reading(is_snapshot=True) as session:
            rows = session.scalars(paged(query, page, [column, Collection.id])).all()
            found = cut(rows, page, lambda row: [getattr(row, str(column.key)), row.id])
            newest = _newest_versions(session, [row.id for row in found.items])
            details = [
                CollectionDetails(record=CollectionRecord.of(row), newest=newest.get(row.id)) for row in found.items
            ]
        return Page(items=details, next=found.next)

    def details(self, record: CollectionRecord) -> CollectionDetails:
        """Return a collection with its newest version."""
        with self._database.reading() as session:
            return CollectionDetails(record=record, newest=_newest_versions(session, [record.id]).get(record.id))


def _conditions(wanted: CollectionFilter, by: Identity) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if not allows("collection.fetch", by):
        listed = select(CollectionToken.collection_id).where(CollectionToken.token_key == by.token)
        conditions.append(Collection.id.in_(listed))
    if wanted.text:
        columns = (Collection.filename, Collection.description, Collection.id)
        conditions.append(or_(*(contains(column, wanted.text) for column in columns)))
    if wanted.strategy:
        conditions.append(Collection.strategy == wanted.strategy)
    return conditions


def _newest_versions(session: Session, ids: Sequence[str]) -> dict[str, VersionRecord]:
    """Return the newest version of each collection that has one."""
    if not ids:
        return {}
    newest = (
        select(Version.collection_id, func.max(Version.number).label("number"))
        .where(Version.collection_id.in_(ids))
        .group_by(Version.collection_id)
        .subquery()
    )
    query = select_with_files().join(
        newest, (newest.c.collection_id == Version.collection_id) & (newest.c.number == Version.number)
    )
    return {row.collection_id: VersionRecord.of(row) for row in session.scalars(query)}
