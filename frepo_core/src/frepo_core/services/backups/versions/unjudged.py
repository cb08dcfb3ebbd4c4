"""Versions that have waited for their verdict for too long: rotation goes on without it."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, Version
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By

from ...base.records import VersionRecord
from ...content.blobs.lifecycle import Blobs
from ...events.facts import version_event
from ...events.recording import record
from ..rotation.counting import Rotation
from ..rotation.strategies import Strategies
from ..rows.version_rows import select_with_files
from .late_results import question_about

log = logging.getLogger(__name__)

BATCH = 100


class UnjudgedVersions:
    """Ends the waiting of versions. `patience` is how long a version waits, `keep` how long the trash keeps others."""

    def __init__(
        self, database: Database, strategies: Strategies, blobs: Blobs, *, patience: timedelta, keep: timedelta
    ) -> None:
        self._database = database
        self._strategies = strategies
        self._blobs = blobs
        self._patience = patience
        self._keep = keep

    def end_waiting(self, *, now: datetime, by: By, keep_going: Callable[[], None]) -> int:
        """Rotate the versions in that have waited too long, the oldest first; return their number.

        Their verdict stays pending, so the newest good version is not evicted for them.
        """
        total = 0
        while found := self._find(now):
            for collection_id, version_id in found:
                keep_going()
                total += self._end(collection_id, version_id, by)
        return total

    def _find(self, now: datetime) -> Sequence[tuple[str, str]]:
        query = select(Version.collection_id, Version.id).where(Version.pending_since < now - self._patience)
        with self._database.reading() as session:
            rows = session.execute(query.order_by(Version.pending_since, Version.number).limit(BATCH))
            return [(row.collection_id, row.id) for row in rows]

    def _end(self, collection_id: str, version_id: str, by: By) -> bool:
        question = question_about(self._strategies, collection_id, version_id)
        question.spares_good = True

        def work(session: Session) -> Sequence[int] | None:
            collection = session.scalar(select(Collection).where(Collection.id == collection_id).with_for_update())
            waiting = select_with_files().where(Version.id == version_id, Version.pending_since.is_not(None))
            row = session.scalar(waiting)
            if collection is None or row is None:
                return None
            version = VersionRecord.of(row)
            rotation = Rotation(session, collection, question, self._strategies.plugins, keep=self._keep, by=by)
            rotated = rotation.admit_judged(row)
            event = version_event(EventKind.VERSION_UNJUDGED, version, by=by, since=str(version.created_at.isoformat()))
            record(session, event, *rotated.events)
            return rotated.released_content_ids

        released = question.settle(lambda: self._database.write(work))
        if released is None:
            return False
        self._blobs.collect(released)
        log.warning("collection %s: a version has no verdict yet, rotation goes on without it", collection_id)
        return True
