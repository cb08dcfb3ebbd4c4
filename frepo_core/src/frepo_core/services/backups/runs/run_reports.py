"""The use case of a client that reports a run of its backup job: it is recorded, and what it says has effects.

A failed run makes the state of its collection `failed`. A client speaks only about versions that it has sent itself: it
may condemn the newest one, within a day of its arrival, or vouch for one.
"""

import logging
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, Event, Run, Version
from frepo_core.domain.backups.runs import NewRun, clean_output
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor
from frepo_core.errors import OutdatedDecisionError

from ...events.actors import actor_of
from ...events.masking import Mask
from ...events.recording import NewEvent, record
from ..rotation.questions import CHANGED, TRIES
from ..rows.collection_rows import find_collection, lock_collection
from ..rows.removal import incarnation_of
from ..rows.verdicts import note_failed
from ..versions.late_results import LateResults
from .run_records import RunRecord
from .run_versions import VersionResult, find_result, find_version

log = logging.getLogger(__name__)

# So many runs are kept for each collection: with 8 KiB of output for each, some 3 MiB.
MAX_RUNS = 400
EVENT_INTERVAL = timedelta(minutes=1)
_KINDS = {"failed": EventKind.RUN_FAILED, "skipped": EventKind.RUN_REPORTED}
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


class _Changed(Exception):
    """What a run says about a version has changed before it was written."""


class RunReports:
    """Records runs."""

    def __init__(self, database: Database, mask: Mask, results: LateResults) -> None:
        self._database = database
        self._mask = mask
        self._results = results

    def record(self, collection_id: str, run: NewRun, *, by: Identity) -> RunRecord:
        """Record a run, and return it. A failed one makes the state of the collection `failed`.

        What it says about the version that it has stored is recorded as the check `run` of that version.

        There is an event about a run that failed or was skipped, unless there is one of the last minute about this
        collection and this token. Raises `FieldsError` if the collection does not exist.
        """

        done, tries = None, 0
        while done is None:
            if tries == TRIES:
                raise OutdatedDecisionError(CHANGED)
            tries += 1
            with self._database.reading() as session:
                collection, now = find_collection(session, collection_id), utc_now()
                version = find_version(session, collection, run, by.client, now)
                result = find_result(session, collection, run, version, self._mask.data(run.reason), now)
            with suppress(_Changed):
                done = self._write(collection_id, run, result, by)
        if done.outcome != "ok":
            text, who = "collection %s: a run %s, as %s reports: %s", describe_actor(by)
            log.info(text, collection_id, "failed" if done.outcome == "failed" else "was skipped", who, done.reason)
        return done

    def _write(self, collection_id: str, run: NewRun, expected: VersionResult | None, by: Identity) -> RunRecord | None:
        """Record the run, and what it says about a version, in one transaction.

        Return None if the version was deleted meanwhile. Raises `_Changed` if the run says something else now.
        """

        def work(session: Session) -> RunRecord:
            collection, now = lock_collection(session, collection_id), utc_now()
            version = find_version(session, collection, run, by.client, now)
            row = self._insert(session, collection, run, version, by)
            if find_result(session, collection, run, version, row.reason, now) != expected:
                raise _Changed
            self._note(collection, row)
            _delete_surplus(session, row)
            _record_event(session, collection, row, by)
            return RunRecord.of(row)

        if expected is None:
            return self._database.write(work)
        done: list[RunRecord] = []
        self._results.record(
            expected.version_id, expected.check, by=by, along=lambda session: done.append(work(session))
        )
        return done[-1] if done else None

    def _insert(
        self,
        session: Session,
        collection: Collection,
        run: NewRun,
        version: Version | None,
        by: Identity,
    ) -> Run:
        row = Run(
            incarnation=incarnation_of(collection),
            at=utc_now(),
            outcome=run.outcome,
            reason=self._mask.data(run.reason),
            started_at=max(run.started_at, _EARLIEST) if run.started_at else None,
            seconds=run.seconds,
            exit_statuses=list(run.exit_statuses),
            error_output=self._mask.data(clean_output(run.error_output)),
            host=run.host,
            client=run.client,
            version_number=version.number if version else None,
            sha256=run.sha256,
            actor=actor_of(by),
            measured=dict(run.measured) or None,
        )
        session.add(row)
        session.flush()
        return row

    def _note(self, collection: Collection, row: Run) -> None:
        collection.last_run_at, collection.last_run_outcome = row.at, row.outcome
        collection.last_run_reason = row.reason
        if row.outcome == "failed":
            note_failed(collection, row.reason, at=row.at)


def _delete_surplus(session: Session, row: Run) -> None:
    """Delete the oldest runs of the collection above `MAX_RUNS`."""
    of_collection = select(Run.id).where(Run.incarnation == row.incarnation)
    oldest = session.scalar(of_collection.order_by(Run.id.desc()).offset(MAX_RUNS - 1).limit(1))
    if oldest is not None:
        session.execute(delete(Run).where(Run.incarnation == row.incarnation, Run.id < oldest))


def _record_event(session: Session, collection: Collection, row: Run, by: Identity) -> None:
    kind = _KINDS.get(row.outcome)
    if kind is None or _was_told(session, collection, by):
        return
    data = {
        "reason": row.reason,
        "exit_statuses": row.exit_statuses,
        "seconds": row.seconds,
        "host": row.host,
        "client": row.client,
    }
    event = NewEvent(kind=kind, by=by, collection_id=collection.id, version_number=row.version_number, data=data)
    record(session, event)


def _was_told(session: Session, collection: Collection, by: Identity) -> bool:
    query = select(Event.id).where(
        Event.at > utc_now() - EVENT_INTERVAL,
        Event.kind.in_([kind.value for kind in _KINDS.values()]),
        Event.collection_id == collection.id,
        Event.actor == by.fingerprint,
    )
    return session.scalar(query.limit(1)) is not None
