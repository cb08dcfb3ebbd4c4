"""The use case of editing a version: pin and unpin it, write a note, release it from quarantine."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, Version
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor
from frepo_core.domain.limits import Limits
from frepo_core.domain.structs import struct
from frepo_core.errors import FieldsError, NotFoundError, PinsLeaveNoRoomError, VersionQuarantinedError
from frepo_core.plugins import IncomingVersion

from ...base.records import CollectionRecord, VersionRecord
from ...content.blobs.lifecycle import Blobs
from ...events.facts import version_event
from ...events.recording import NewEvent, record
from ..holds.pins import pin, unpin
from ..rotation.content_guards import start_anew
from ..rotation.counting import Rotation
from ..rotation.newest_size import find_newest_size
from ..rotation.questions import Question
from ..rotation.strategies import Strategies
from ..rows.collection_rows import lock_collection
from ..rows.expected_backups import set_arrived_before
from ..rows.locks import require_removable
from ..rows.quarantine import end_nights, is_there_for
from ..rows.verdicts import failures_of, is_bad, judge_again, note_newest, release
from ..rows.version_rows import VersionPrecondition, select_with_files

log = logging.getLogger(__name__)

# The names of the parts of a pin in requests.
_FIELDS = {"until": "pinned_until", "reason": "pin_reason"}


@struct
class VersionChange:
    """The requested values of a version; None keeps the value. `releases` ends its quarantine.

    `pin` has the requested `until` (aware, None: no end) and `reason` of its pin, as far as they are given.
    """

    pinned: bool | None = None
    pin: Mapping[str, Any] = field(default_factory=dict)
    note: str | None = None
    releases: bool = False


@dataclass(kw_only=True)
class _Edit:
    """What one transaction changes: its events, and the blobs of the versions that were evicted for a released one."""

    row: Version
    events: list[NewEvent] = field(default_factory=list)
    released_content_ids: Sequence[int] = ()


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
        evicted for it as for an upload, but never the newest for an older one. What was found before no longer counts
        against it: one that was found broken later can be released, too. What is so already stays, without an event.

        `precondition` is called with the locked version before the change; what it raises prevents the change.
        Raises `NotFoundError` if the version was deleted meanwhile, `FieldsError` for an end in the past, and for the
        end or the reason of a pin that is not there, and `RuleError`: a version in quarantine cannot be pinned, the
        pinned versions have to leave room, and there has to be room for a released version.
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
            if change.releases and _is_held(row):
                self._release(session, collection, edit, by, question)
            _edit_pin(session, collection, edit, change, by)
            if change.note is not None and change.note != row.note:
                _set_note(edit, change.note, by)
            session.flush()
            record(session, *edit.events)
            return VersionRecord.of(row), edit

        def transact() -> tuple[VersionRecord, _Edit]:
            return self._database.write(work)

        version, edit = question.settle(transact) if change.releases else transact()
        self._blobs.collect(edit.released_content_ids)
        for event in edit.events:
            number, kind, who = event.version_number, event.kind, describe_actor(by)
            log.info("collection %s: version %s: %s by %s", collection_id, number, kind, who)
        return version

    def quarantined(self, reason: str, collection_id: str | None = None) -> Sequence[VersionRecord]:
        """Return the versions in quarantine for a reason (short name or as stored), in all collections or in one."""
        query = select_with_files().where(Version.is_quarantined, is_there_for([reason]))
        if collection_id is not None:
            query = query.where(Version.collection_id == collection_id)
        with self._database.reading() as session:
            rows = session.scalars(query.order_by(Version.collection_id, Version.number))
            return [VersionRecord.of(row) for row in rows]

    def _question(self, collection_id: str, version_id: str) -> Question:
        """Return the question to the strategy about a version that is in quarantine or pending."""
        query = select_with_files().where(Version.id == version_id, ~Version.is_counted)

        def make_incoming(session: Session, collection: CollectionRecord) -> IncomingVersion | None:
            row = session.scalar(query)
            return IncomingVersion(size=row.file.blob.size, created_at=row.created_at) if row else None

        return Question(self._strategies, collection_id, make_incoming, version_id=version_id)

    def _release(
        self, session: Session, collection: Collection, edit: _Edit, by: Identity | None, question: Question
    ) -> None:
        """Make the version a normal one, and delete those that its collection's strategy evicts for it."""
        row, reason = edit.row, edit.row.quarantine_reason or edit.row.verdict_reason
        over = failures_of(row)
        if not row.is_counted:
            rotation = Rotation(session, collection, question, self._strategies.plugins, keep=self._keep, by=by)
            rotated = rotation.admit(row)
            edit.released_content_ids = rotated.released_content_ids
            edit.events += rotated.events
        release(session, row, by)
        judge_again(session, row)
        start_anew(collection, row)
        end_nights(collection)
        session.flush()
        set_arrived_before(collection, row.created_at)
        note_newest(session, collection, over=over)
        edit.events.append(version_event(EventKind.VERSION_RELEASED, VersionRecord.of(row), by=by, reason=reason))


def _is_held(row: Version) -> bool:
    """Return whether there is something to release: quarantine, waiting, or a verdict that speaks against it."""
    return not row.is_counted or is_bad(Verdict(row.verdict))


def _edit_pin(
    session: Session, collection: Collection, edit: _Edit, change: VersionChange, by: Identity | None
) -> None:
    row, was_pinned = edit.row, bool(edit.row.pinned)
    is_pinned = was_pinned if change.pinned is None else change.pinned
    if change.pin and not is_pinned:
        raise FieldsError({_FIELDS[one]: ["the version is not pinned: pin it as well"] for one in change.pin})
    if was_pinned and not is_pinned:
        require_removable(session, [row])
    if not is_pinned:
        edit.events += [unpin(collection, row, by=by)] if was_pinned else []
        return
    until, reason = change.pin.get("until", row.pinned_until), change.pin.get("reason", row.pin_reason)
    if was_pinned and (until, reason) == (row.pinned_until, row.pin_reason):
        return
    if was_pinned and until is not None and (row.pinned_until is None or until < row.pinned_until):
        require_removable(session, [row])
    if until is not None and until <= utc_now():
        raise FieldsError({_FIELDS["until"]: ["is in the past: write a time that is still to come"]})
    if row.is_quarantined:
        raise VersionQuarantinedError()
    edit.events.append(pin(collection, row, until=until, reason=reason, by=by))
    if not was_pinned:
        check_pins_leave_room(session, collection, CollectionRecord.of(collection).limits)


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
