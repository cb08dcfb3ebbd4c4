"""The use case of deleting many versions of one collection, for plug-ins that know what is not needed any more."""

import logging
from collections.abc import Collection as Group
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, Version
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By, describe_actor

from ...access.policies.policies import Policies
from ...base.records import CollectionRecord, VersionRecord
from ...content.blobs.lifecycle import Blobs
from ...events.facts import version_event
from ...events.recording import record
from ..rows.collection_rows import lock_collection
from ..rows.locks import are_locked
from ..rows.newest_good import takes_all_good
from ..rows.removal import TrashReason, move_to_trash
from ..rows.verdicts import failures_of, note_newest
from ..rows.version_rows import select_with_files

log = logging.getLogger(__name__)


class BulkDeletion:
    """Deletes versions in one transaction."""

    def __init__(self, database: Database, blobs: Blobs, policies: Policies, keep: timedelta) -> None:
        """`keep` is how long deleted versions can be restored."""
        self._database = database
        self._blobs = blobs
        self._policies = policies
        self._keep = keep

    def delete(self, collection_id: str, numbers: Group[int], *, by: By, reason: str, to_trash: bool = True) -> int:
        """Delete those of these versions that are not pinned, locked, on hold or too young; return how many that were.

        Raises `FieldsError` if the collection does not exist, and `PolicyRefusedError` or `PolicyFailedError` if a
        policy does not allow one of them. Nothing has changed then.
        """
        self._ask_policies(collection_id, numbers, by=by)

        def work(session: Session) -> tuple[int, Sequence[int]]:
            collection = lock_collection(session, collection_id)
            rows = _find_removable(session, collection, numbers, now=utc_now())
            records, over = list(map(VersionRecord.of, rows)), [at for row in rows for at in failures_of(row)]
            keep = self._keep if to_trash else timedelta()
            removed = move_to_trash(
                session, collection, rows, reason=TrashReason.DELETED, by=by, keep=keep, now=utc_now()
            )
            if rows:
                note_newest(session, collection, over=over)
            data = {"reason": reason, **removed.event_data}
            record(session, *(version_event(EventKind.VERSION_DELETED, one, by=by, **data) for one in records))
            return len(rows), removed.released_content_ids

        count, released_content_ids = self._database.write(work, may_use_reserve=True)
        self._blobs.collect(released_content_ids)
        log.info("collection %s: versions deleted by %s: %s (%s)", collection_id, describe_actor(by), count, reason)
        return count

    def _ask_policies(self, collection_id: str, numbers: Group[int], *, by: By) -> None:
        """Ask about each version before anything is deleted. No transaction is open then."""
        query = select(Version.number).where(Version.collection_id == collection_id, Version.number.in_(numbers))
        with self._database.reading() as session:
            found = session.scalars(query.order_by(Version.number)).all()
        for number in found:
            self._policies.check_deletion(collection_id, by=by, find=partial(_facts, collection_id, number, numbers))


def _facts(collection_id: str, number: int, numbers: Group[int], session: Session) -> tuple[int, bool]:
    """Return what policies are told of a version to delete: its number, and whether all good ones leave with it."""
    return number, takes_all_good(session, collection_id, numbers)


def _find_removable(
    session: Session, collection: Collection, numbers: Group[int], *, now: datetime
) -> Sequence[Version]:
    """Return the versions that nothing holds. Those in quarantine can be deleted at any age."""
    if collection.held_since is not None:
        return []
    query = select_with_files().where(Version.collection_id == collection.id, Version.number.in_(numbers))
    rows = session.scalars(query.where(Version.pinned.is_(False)).order_by(Version.number)).all()
    guards = CollectionRecord.of(collection).guards
    free = [row for row in rows if row.is_quarantined or not guards.protects(row.created_at, now=now)]
    return [row for row, is_locked in zip(free, are_locked(session, free), strict=True) if not is_locked]
