"""The use cases of deleted collections: list, restore and end."""

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, literal, select, true
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import (
    Collection,
    CollectionToken,
    DeletedCollection,
    DeletedCollectionToken,
    File,
    Token,
    TrashEntry,
    Version,
)
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor, parse_uuid4
from frepo_core.domain.permissions import allows
from frepo_core.domain.structs import struct
from frepo_core.errors import AccessDeniedError, NotFoundError, RestoreConflictError
from frepo_core.plugins import CollectionInfo

from ...access.policies.policies import Policies
from ...base.change_log import collection_values
from ...base.keyset import Page, PageRequest, cut, paged
from ...base.records import CollectionRecord
from ...content.blobs.lifecycle import Blobs
from ...events.facts import collection_event
from ...events.recording import NewEvent, record
from ..rows.expected_backups import set_deadline
from ..rows.removal import TrashReason
from ..rows.verdicts import note_newest
from .collection_removal import collection_from
from .entries import EndReason, end_entries
from .restoration import give_back, lock_for_use

log = logging.getLogger(__name__)


@struct
class DeletedCollectionRecord:
    """A deleted collection. Times are UTC (aware).

    `versions` and `size` (bytes) are those that it would be restored with: some may have ended early. `incarnation`
    distinguishes it from other collections that had its id.
    """

    id: str
    incarnation: str
    name: str
    description: str
    deleted_at: datetime
    deleted_by: str
    ends_at: datetime
    versions: int
    size: int


@struct
class RestoredCollection:
    """A collection after it was restored, and with how many versions."""

    collection: CollectionRecord
    versions: int


class DeletedCollections:
    """Manages deleted collections. `by` is a token, or `frepo`, which may do all."""

    def __init__(self, database: Database, blobs: Blobs, policies: Policies) -> None:
        self._database = database
        self._blobs = blobs
        self._policies = policies

    def list(self) -> Sequence[DeletedCollectionRecord]:
        """Return all deleted collections, the one that was deleted last first."""
        with self._database.reading() as session:
            rows = session.execute(
                _select().order_by(DeletedCollection.deleted_at.desc(), DeletedCollection.incarnation)
            )
            return [_record(row) for row in rows]

    def page(self, page: PageRequest, *, by: Identity) -> Page[DeletedCollectionRecord]:
        """Return a page of the deleted collections that the token may restore, by the time of their deletion."""
        query = _select().where(_is_visible(by))
        with self._database.reading(is_snapshot=True) as session:
            order = [DeletedCollection.deleted_at, DeletedCollection.incarnation]
            rows = session.execute(paged(query, page, order)).all()
            found = cut(rows, page, lambda row: [row[0].deleted_at, row[0].incarnation])
            return Page(items=[_record(row) for row in found.items], next=found.next)

    def restore(self, name: str, *, by: Identity) -> RestoredCollection:
        """Restore a collection under its id, with its settings, its list of tokens, and its versions.

        `name` is its incarnation, or its id, which means the one that was deleted last.
        Raises `NotFoundError`, also for one whose list does not have the token, and `RestoreConflictError` if its id is
        in use.
        """
        incarnation = self.find_incarnation(name, by)

        def work(session: Session) -> RestoredCollection:
            deleted = _lock(session, incarnation)
            if session.get(Collection, deleted.collection_id):
                raise RestoreConflictError(
                    f"Another collection has the id {deleted.collection_id}. Delete it first, if it is not needed"
                )
            restored = _restore(session, deleted, by)
            blobs = select(File.content_id).join(Version, Version.file_id == File.id)
            of_collection = blobs.where(Version.collection_id == restored.collection.id)
            self._blobs.want_copies(session, session.scalars(of_collection).all())
            return restored

        done = self._database.write(work)
        text = "collection %s: restored with %s versions by %s"
        log.info(text, done.collection.id, done.versions, describe_actor(by))
        return done

    def end(self, name: str, *, by: Identity) -> int:
        """End a deleted collection and all that is in its trash at once; return the number of its versions.

        `name` is as for `restore`. Raises `NotFoundError`, `AccessDeniedError` if the token may only restore it, and
        `PolicyRefusedError` or `PolicyFailedError` if a policy does not allow it.
        """
        incarnation = self.find_incarnation(name, by)
        if not allows("trash.end", by, listed=True):
            raise AccessDeniedError("The token may not end what is in the trash, it may only restore it")
        self._check_policies(incarnation, by)

        def work(session: Session) -> Sequence[int]:
            deleted = _lock(session, incarnation)
            entries = select(TrashEntry).where(TrashEntry.incarnation == incarnation).order_by(TrashEntry.id)
            rows = session.scalars(entries.with_for_update()).all()
            content_ids = end_entries(session, rows, EndReason.REQUEST, now=utc_now(), by=by)
            session.execute(delete(DeletedCollection).where(DeletedCollection.incarnation == deleted.incarnation))
            return content_ids

        content_ids = self._database.write(work, may_use_reserve=True)
        self._blobs.collect(content_ids)
        log.info("deleted collection %s: ended with %s versions by %s", name, len(content_ids), describe_actor(by))
        return len(content_ids)

    def _check_policies(self, incarnation: str, by: Identity) -> None:
        with self._database.reading() as session:
            row = session.scalar(select(DeletedCollection).where(DeletedCollection.incarnation == incarnation))
        if row is not None:
            self._policies.check("delete", info_of(row), by=by)

    def find_incarnation(self, name: str, by: Identity) -> str:
        """Return the incarnation of a deleted collection; `name` is that, or its id. Raises `NotFoundError`."""
        wanted = parse_uuid4(name.lower())
        if wanted is None:
            raise _not_found(name, by)
        named = (DeletedCollection.incarnation == wanted) | (DeletedCollection.collection_id == wanted)
        query = select(DeletedCollection.incarnation).where(named, _is_visible(by))
        # A collection from before the trash has its id as its incarnation.
        query = query.order_by(DeletedCollection.deleted_at.desc(), DeletedCollection.incarnation)
        with self._database.reading() as session:
            found = session.scalar(query.limit(1))
        if found is None:
            raise _not_found(name, by)
        return found


def info_of(deleted: DeletedCollection) -> CollectionInfo:
    """Return what policies learn of a deleted collection."""
    return CollectionInfo(
        id=deleted.collection_id,
        name=deleted.name,
        description=deleted.description,
        labels=tuple(deleted.settings.get("labels") or ()),
    )


def _not_found(name: str, by: Identity | None = None) -> NotFoundError:
    which = " that the token may restore" if by is not None and by.token else ""
    remedy = "`frepo backup:deleted-collections` lists those that can be restored"
    return NotFoundError(f"There is no deleted collection {name[:64]!r}{which}", remedy=remedy)


def _is_visible(by: Identity) -> ColumnElement[bool]:
    if allows("trash.restore", by):
        return true()
    listed = select(DeletedCollectionToken.incarnation).where(DeletedCollectionToken.token_key == by.token)
    return DeletedCollection.incarnation.in_(listed) & literal(allows("trash.restore", by, listed=True))


def _select() -> Any:
    """Return a query for deleted collections with the number and the bytes of their versions."""
    with_it = (
        select(
            TrashEntry.incarnation,
            func.count().label("versions"),
            func.coalesce(func.sum(TrashEntry.size), 0).label("size"),
        )
        .where(TrashEntry.reason == TrashReason.COLLECTION_DELETED.value)
        .group_by(TrashEntry.incarnation)
        .subquery()
    )
    columns = (func.coalesce(with_it.c.versions, 0), func.coalesce(with_it.c.size, 0))
    return select(DeletedCollection, *columns).outerjoin(
        with_it, with_it.c.incarnation == DeletedCollection.incarnation
    )


def _record(row: Any) -> DeletedCollectionRecord:
    deleted, versions, size = row
    return DeletedCollectionRecord(
        id=deleted.collection_id,
        incarnation=deleted.incarnation,
        name=deleted.name,
        description=deleted.description,
        deleted_at=deleted.deleted_at,
        deleted_by=deleted.deleted_by,
        ends_at=deleted.ends_at,
        versions=versions,
        size=int(size),
    )


def _lock(session: Session, incarnation: str) -> DeletedCollection:
    query = select(DeletedCollection).where(DeletedCollection.incarnation == incarnation)
    row = session.scalar(query.with_for_update())
    if row is None:  # somebody else has restored or ended it meanwhile
        raise _not_found(incarnation)
    return row


def _restore(session: Session, deleted: DeletedCollection, by: Identity) -> RestoredCollection:
    query = select(TrashEntry).where(
        TrashEntry.incarnation == deleted.incarnation, TrashEntry.reason == TrashReason.COLLECTION_DELETED.value
    )
    lock_for_use(session, [entry.content_id for entry in session.scalars(query)])
    row = collection_from(deleted.settings)
    session.add(row)
    session.flush()
    granted = _give_access_back(session, deleted, by)
    entries = _locked(session, query)
    versions = [give_back(session, row, entry, protected_until=None, by=by) for entry in entries]
    note_newest(session, row)
    set_deadline(row)
    session.flush()
    restored = CollectionRecord.of(row)
    data: dict[str, Any] = {
        "versions": len(versions),
        "size": row.stored_size,
        "deleted_at": deleted.deleted_at.isoformat(),
    }
    after = collection_values(restored)
    event = collection_event(EventKind.COLLECTION_RESTORED, row.id, by=by, after=after, **data)
    session.execute(delete(DeletedCollection).where(DeletedCollection.incarnation == deleted.incarnation))
    record(session, event, *granted, *(event for _, event in versions))
    return RestoredCollection(collection=restored, versions=len(versions))


def _give_access_back(session: Session, deleted: DeletedCollection, by: Identity) -> list[NewEvent]:
    """Put the tokens on the list that were on it, and still exist; return the events about that."""
    query = select(Token.key, Token.fingerprint).join(
        DeletedCollectionToken, DeletedCollectionToken.token_key == Token.key
    )
    listed = query.where(DeletedCollectionToken.incarnation == deleted.incarnation).order_by(Token.fingerprint)
    tokens = session.execute(listed).all()
    session.add_all(CollectionToken(collection_id=deleted.collection_id, token_key=key) for key, _ in tokens)
    granted = EventKind.COLLECTION_ACCESS_GRANTED
    return [collection_event(granted, deleted.collection_id, by=by, token=token) for _, token in tokens]


def _locked(session: Session, query: Select[TrashEntry]) -> Sequence[TrashEntry]:
    """Return the entries in the order of their numbers, locked in the order of their ids."""
    rows = session.scalars(query.order_by(TrashEntry.id).with_for_update().execution_options(populate_existing=True))
    return sorted(rows, key=lambda entry: entry.number)
