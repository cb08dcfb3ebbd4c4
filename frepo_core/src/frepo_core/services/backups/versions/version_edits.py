"""The use case of editing a version: pin and unpin it, write a note, release it from quarantine."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, Version
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor
from frepo_core.domain.limits import Limits
from frepo_core.errors import NotFoundError, PinsLeaveNoRoomError, VersionQuarantinedError
from frepo_core.plugins import IncomingVersion

from ...base.records import CollectionRecord, VersionRecord
from ...content.blobs.lifecycle import Blobs
from ...events.facts import version_event
from ...events.recording import NewEvent, record
from ..collections.collection_rows import lock_collection
from ..collections.expected_backups import set_deadline
from ..quarantine import end_nights
from ..rotation.decision import check_keeps_newest, decide
from ..rotation.newest_size import find_newest_size
from ..rotation.questions import Question
from ..rotation.stored_state import read_state
from ..rotation.strategies import Strategies
from ..trash.removal import TrashReason, move_to_trash
from .version_rows import VersionPrecondition, find_evicted, select_with_files, set_suspicion

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class VersionChange:
    """The requested values of a version; None keeps the value. `releases` ends its quarantine."""

    pinned: bool | None = None
    note: str | None = None
    releases: bool = False


@dataclass(kw_only=True)
class _Edit:
    """What one transaction changes: its events, and the blobs of the versions that were evicted for a released one."""

    row: Version
    events: list[NewEvent] = field(default_factory=list)
    released_blob_ids: Sequence[int] = ()


class VersionEdits:
    """Edits versions."""

    def __init__(self, database: Database, strategies: Strategies, blobs: Blobs, keep: timedelta) -> None:
        self._database = database
        self._strategies = strategies
        self._blobs = blobs
        self._keep = keep

    def edit(
        self,
        collection_id: str,
        version_id: str,
        change: VersionChange,
        *,
        by: Identity | None,
        precondition: VersionPrecondition = None,
    ) -> VersionRecord:
        """Change the given values of a version: release it first, then pin or unpin it.

        A released version becomes a normal one: limits count it, later versions are compared with it, and versions are
        evicted for it as for an upload, but never the newest for an older one. What is so already stays, without an
        event.

        `precondition` is called with the locked version before the change; what it raises prevents the change.
        Raises `NotFoundError` if the version was deleted meanwhile, and `RuleError`: a version in quarantine cannot be
        pinned, the pinned versions have to leave room, and there has to be room for a released version.
        """

        question = self._question(collection_id, version_id)

        def work(session: Session) -> tuple[VersionRecord, _Edit]:
            collection = lock_collection(session, collection_id)
            query = select_with_files().where(Version.id == version_id, Version.collection_id == collection.id)
            row = session.scalar(query)
            if row is None:
                raise NotFoundError("The version was deleted before it was edited")
            if precondition:
                precondition(VersionRecord.of(row))
            edit = _Edit(row=row)
            if change.releases and row.is_quarantined:
                self._release(session, collection, edit, by, question)
            if change.pinned is not None and change.pinned != row.pinned:
                _set_pinned(session, collection, edit, by, pinned=change.pinned)
            if change.note is not None and change.note != row.note:
                _set_note(edit, change.note, by)
            session.flush()
            record(session, *edit.events)
            return VersionRecord.of(row), edit

        def transact() -> tuple[VersionRecord, _Edit]:
            return self._database.write(work)

        version, edit = question.settle(transact) if change.releases else transact()
        self._blobs.collect(edit.released_blob_ids)
        for event in edit.events:
            number, kind, who = event.version_number, event.kind, describe_actor(by)
            log.info("collection %s: version %s: %s by %s", collection_id, number, kind, who)
        return version

    def quarantined(self, reason: str, collection_id: str | None = None) -> Sequence[VersionRecord]:
        """Return the versions that are in quarantine for this reason, in all collections or in one, oldest first."""
        query = select_with_files().where(Version.is_quarantined, Version.quarantine_reason == reason)
        if collection_id is not None:
            query = query.where(Version.collection_id == collection_id)
        with self._database.reading() as session:
            rows = session.scalars(query.order_by(Version.collection_id, Version.number))
            return [VersionRecord.of(row) for row in rows]

    def _question(self, collection_id: str, version_id: str) -> Question:
        """Return the question to the strategy about a version that is in quarantine."""
        query = select_with_files().where(Version.id == version_id, Version.is_quarantined)

        def make_incoming(session: Session, collection: CollectionRecord) -> IncomingVersion | None:
            row = session.scalar(query)
            return IncomingVersion(size=row.file.blob.size, created_at=row.created_at) if row else None

        return Question(self._strategies, collection_id, make_incoming)

    def _release(
        self, session: Session, collection: Collection, edit: _Edit, by: Identity | None, question: Question
    ) -> None:
        """Make the version a normal one, and delete those that its collection's strategy evicts for it."""
        row, current = edit.row, CollectionRecord.of(collection)
        size, reason = row.file.blob.size, row.quarantine_reason
        answer, plugins = question.answer, self._strategies.plugins
        state = read_state(session, plugins, current, now=answer.at if answer else utc_now())
        incoming = IncomingVersion(size=size, created_at=row.created_at)
        decision = decide(plugins, state, incoming, ask=question.ask_in(current, state))
        check_keeps_newest(state, decision, row.number)
        evicted = find_evicted(session, collection, decision.evicted, now=utc_now())
        records = [VersionRecord.of(old) for old in evicted]
        removed = move_to_trash(
            session, collection, evicted, reason=TrashReason.EVICTED, by=by, keep=self._keep, now=utc_now()
        )
        edit.released_blob_ids = removed.released_blob_ids
        row.quarantined_at = row.quarantine_reason = None
        row.is_suspicious = False
        collection.quarantined_count -= 1
        collection.quarantined_size -= size
        collection.versions_count += 1
        collection.stored_size += size
        end_nights(collection)
        session.flush()
        _set_arrived(collection, row)
        set_suspicion(session, collection)
        ends = removed.event_data
        edit.events += [
            version_event(EventKind.VERSION_EVICTED, old, by=by, replaced_by=row.number, **ends) for old in records
        ]
        edit.events.append(version_event(EventKind.VERSION_RELEASED, VersionRecord.of(row), by=by, reason=reason))


def _set_arrived(collection: Collection, version: Version) -> None:
    """Note that a released version arrived when it was uploaded."""
    collection.full_since = None
    if collection.arrived_at is None or collection.arrived_at < version.created_at:
        collection.arrived_at = version.created_at
        set_deadline(collection)


def _set_pinned(session: Session, collection: Collection, edit: _Edit, by: Identity | None, *, pinned: bool) -> None:
    if pinned and edit.row.is_quarantined:
        raise VersionQuarantinedError()
    step = 1 if pinned else -1
    edit.row.pinned = pinned
    collection.pinned_count += step
    collection.pinned_size += step * edit.row.file.blob.size
    if pinned:
        check_pins_leave_room(session, collection, CollectionRecord.of(collection).limits)
    kind = EventKind.VERSION_PINNED if pinned else EventKind.VERSION_UNPINNED
    edit.events.append(version_event(kind, VersionRecord.of(edit.row), by=by))


def _set_note(edit: _Edit, note: str, by: Identity | None) -> None:
    row, before = edit.row, edit.row.note
    row.note = note
    event = NewEvent(
        kind=EventKind.VERSION_NOTED,
        by=by,
        collection_id=row.collection_id,
        version_number=row.number,
        file_id=row.file_id,
        data={"before": before, "after": note},
    )
    edit.events.append(event)


def check_pins_leave_room(session: Session, collection: Collection, limits: Limits) -> None:
    """Raise `PinsLeaveNoRoomError` if no version of the size of the newest one would fit next to the pinned ones."""
    if not collection.pinned_count:
        return
    size = find_newest_size(session, collection.id) or 0
    has_count = not limits.versions or collection.pinned_count < limits.versions
    if not has_count or (limits.total_size and collection.pinned_size + size > limits.total_size):
        raise PinsLeaveNoRoomError()
