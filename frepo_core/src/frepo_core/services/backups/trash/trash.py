"""The use cases of the trash of a collection: list, restore and end."""

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TypeAlias

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, TrashEntry
from frepo_core.domain.identity import By, describe_actor
from frepo_core.errors import NotFoundError

from ...access.policies.policies import Policies
from ...base.keyset import Page, PageRequest, cut, paged
from ...base.records import VersionRecord
from ...content.blobs.lifecycle import Blobs
from ...events.recording import record
from ..rows.collection_rows import find_collection, lock_collection
from ..rows.removal import incarnation_of
from ..rows.verdicts import note_newest
from .entries import EndReason, TrashedVersion, end_entries, records_of, select_with_blobs
from .restoration import give_back, lock_for_use, require_room

log = logging.getLogger(__name__)
# Called in the transaction of a restoration with the collection, which is locked, and the entry.
RoomMaker: TypeAlias = Callable[[Session, Collection, TrashEntry], None]
# The same, before it is asked whether the version has room.
LimitRaiser: TypeAlias = Callable[[Session, Collection], None]


class Trash:
    """Manages what is in the trash of collections that exist."""

    def __init__(self, database: Database, blobs: Blobs, policies: Policies, keep: timedelta) -> None:
        self._database = database
        self._blobs = blobs
        self._policies = policies
        self.keep = keep

    def page(self, collection_id: str, page: PageRequest) -> Page[TrashedVersion]:
        """Return a page of the versions in the trash, by number. Raises `FieldsError` for an invalid cursor."""
        with self._database.reading() as session:
            query = select_with_blobs().where(_is_in_trash_of(session, collection_id))
            rows = session.scalars(paged(query, page, [TrashEntry.number, TrashEntry.id])).all()
            found = cut(rows, page, lambda row: [row.number, row.id])
            return Page(items=records_of(session, found.items), next=found.next)

    def list(self, collection_id: str) -> Sequence[TrashedVersion]:
        """Return all versions in the trash, the newest first."""
        with self._database.reading() as session:
            query = select_with_blobs().where(_is_in_trash_of(session, collection_id))
            rows = session.scalars(query.order_by(TrashEntry.number.desc(), TrashEntry.id.desc()))
            return records_of(session, rows)

    def find(self, collection_id: str, number: int) -> TrashedVersion:
        """Return a version in the trash. Raises `NotFoundError`."""
        with self._database.reading() as session:
            return records_of(session, [_find(session, collection_id, number)])[0]

    def restore(
        self,
        collection_id: str,
        number: int,
        *,
        by: By,
        make_room: RoomMaker | None = None,
        raise_limits: LimitRaiser | None = None,
    ) -> VersionRecord:
        """Restore a version under its number. It is protected from eviction for `keep`.

        `raise_limits` gives the collection the room first: if the version has none then, the limits stay as they were.
        With `make_room`, as after the loss of a database, it comes back as it was, also in quarantine or pending, and
        is not protected. What `make_room` evicts stays if the version has no room then. Raises `NotFoundError` if it is
        not in the trash, and `RestoreConflictError` if it has no room there.
        """
        keep = None if make_room else self.keep

        def work(session: Session) -> VersionRecord:
            content_id = _find(session, collection_id, number).content_id
            lock_for_use(session, [content_id])
            self._blobs.want_copies(session, [content_id])
            collection = lock_collection(session, collection_id)
            entry = _find(session, collection_id, number, lock=True)
            if raise_limits:
                raise_limits(session, collection)
            if make_room:
                make_room(session, collection, entry)
            require_room(session, collection, entry, is_recovered=make_room is not None)
            until = utc_now() + keep if keep else None
            releases = make_room is None
            version, event = give_back(session, collection, entry, protected_until=until, by=by, releases=releases)
            note_newest(session, collection)
            record(session, event)
            return version

        restored = self._database.write(work)
        log.info("collection %s: version v%s was restored by %s", collection_id, number, describe_actor(by))
        return restored

    def end(self, collection_id: str, number: int | None = None, *, by: By) -> int:
        """End one entry, or all of a collection, at once; return their number.

        Raises `NotFoundError` if the version with this number is not in the trash, and `PolicyRefusedError` or
        `PolicyFailedError` if a policy does not allow it.
        """
        self._policies.check_deletion(collection_id, by=by, find=lambda session: (number, False))

        def work(session: Session) -> Sequence[int]:
            now = utc_now()
            if number is not None:
                rows: Sequence[TrashEntry] = [_find(session, collection_id, number, lock=True)]
            else:
                query = select(TrashEntry).where(_is_in_trash_of(session, collection_id)).order_by(TrashEntry.id)
                rows = session.scalars(query.with_for_update()).all()
            return end_entries(session, rows, EndReason.REQUEST, now=now, by=by)

        content_ids = self._database.write(work, may_use_reserve=True)
        self._blobs.collect(content_ids)
        what = f"version v{number}" if number is not None else f"{len(content_ids)} versions"
        log.info("collection %s: %s in the trash ended by %s", collection_id, what, describe_actor(by))
        return len(content_ids)


def _is_in_trash_of(session: Session, collection_id: str) -> ColumnElement[bool]:
    return TrashEntry.incarnation == incarnation_of(find_collection(session, collection_id))


def _find(session: Session, collection_id: str, number: int, *, lock: bool = False) -> TrashEntry:
    query = select(TrashEntry).with_for_update() if lock else select_with_blobs()  # with a join, it would lock the blob
    query = query.where(_is_in_trash_of(session, collection_id), TrashEntry.number == number)
    row = session.scalar(query.order_by(TrashEntry.id.desc()).limit(1))
    if row is None:
        remedy = f"`frepo backup:trash {collection_id}` lists what is in it"
        raise NotFoundError(f"The version {number} is not in the trash of the collection", remedy=remedy)
    return row
