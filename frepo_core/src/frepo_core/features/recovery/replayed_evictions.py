"""Makes room for a version that is read back: what had left its collection leaves it again; and pins it again."""

from collections.abc import Collection as Group
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, TrashEntry, Version
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.identity import By
from frepo_core.services.backups.holds.pins import pin
from frepo_core.services.backups.rows.collection_rows import lock_collection
from frepo_core.services.backups.rows.expected_backups import set_arrived_before
from frepo_core.services.backups.rows.locks import is_unlocked
from frepo_core.services.backups.rows.removal import TrashReason, eviction_events, move_to_trash
from frepo_core.services.backups.rows.verdicts import find_newest_good, is_bad, note_newest
from frepo_core.services.backups.rows.version_rows import is_restored, select_with_files
from frepo_core.services.backups.trash.restoration import has_room_as_it_was
from frepo_core.services.base.records import CollectionRecord, VersionRecord
from frepo_core.services.events.recording import record

from .journal.json_rows import Values, to_row
from .journal.objects import table_of


def make_room(
    session: Session, collection: Collection, entry: TrashEntry, *, stayed: Group[int], keep: timedelta, by: By
) -> None:
    """Evict versions into the trash for `keep`, the oldest first, until the entry has room; not the numbers `stayed`.

    Only versions that are older than it, and that rotation may evict; the newest good one only for a good one.
    """
    for row in _find_leaving(session, collection, entry, stayed):
        if has_room_as_it_was(collection, entry):
            break
        version = VersionRecord.of(row)
        removed = move_to_trash(session, collection, [row], reason=TrashReason.EVICTED, by=by, keep=keep, now=utc_now())
        session.flush()
        for event in eviction_events([version], removed, by=by, replaced_by=entry.number):
            record(session, event)
    note_newest(session, collection)


def set_as_it_was(version: Values, by: By, session: Session) -> None:
    """Pin a version that was read back, as it was before, and let its collection expect the next one after it."""
    row = session.scalar(select_with_files().where(Version.id == version["id"]))
    if row is None:
        return
    was, collection = to_row(table_of(Version), version), lock_collection(session, row.collection_id)
    if not row.is_quarantined and not is_bad(Verdict(row.verdict)):
        set_arrived_before(collection, row.created_at)
    if was["pinned"] and not row.pinned:
        record(session, pin(collection, row, until=was["pinned_until"], reason=was["pin_reason"], by=by))


def _find_leaving(session: Session, collection: Collection, entry: TrashEntry, stayed: Group[int]) -> Sequence[Version]:
    if collection.held_since is not None:
        return []
    now, guards = utc_now(), CollectionRecord.of(collection).guards
    numbers = set(session.scalars(select(Version.number).where(Version.collection_id == collection.id)))
    query = select_with_files().where(Version.collection_id == collection.id, Version.number.in_(numbers - {*stayed}))
    query = query.where(Version.number < entry.number, Version.created_at < entry.created_at)
    query = query.where(Version.pinned.is_(False), Version.is_counted, ~is_restored(now))
    query = query.where(is_unlocked(Version.locked_until, session))
    newest = None if Verdict(entry.verdict).is_good else find_newest_good(session, collection.id)
    rows = session.scalars(query.order_by(Version.number)).all()
    return [row for row in rows if row is not newest and not guards.protects(row.created_at, now=now)]
