"""Versions that limits begin to count: released from quarantine, judged late, or waited for long enough."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, Version
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.identity import By
from frepo_core.errors import FrepoError, OutdatedDecisionError
from frepo_core.plugins import IncomingVersion, VersionInfo
from frepo_core.plugins.registry import PluginRegistry

from ...base.records import CollectionRecord, VersionRecord
from ...events.recording import NewEvent
from ..rows.locks import are_locked
from ..rows.removal import TrashReason, eviction_events, move_to_trash
from ..rows.verdicts import find_newest_good, is_bad
from ..rows.version_rows import find_evicted, select_pending
from .decision import Decision, RotationState, check_keeps_newest, decide
from .evictable_versions import read_state
from .questions import Question


@dataclass(kw_only=True)
class Rotated:
    """What rotation has changed: its events, and blobs that perhaps nothing uses any more. `is_gone`: the version."""

    events: list[NewEvent] = field(default_factory=list)
    released_content_ids: list[int] = field(default_factory=list)
    is_gone: bool = False


class Rotation:
    """Rotates a collection, whose row is locked, for a version that is in it already. For one transaction."""

    def __init__(
        self,
        session: Session,
        collection: Collection,
        question: Question,
        plugins: PluginRegistry,
        *,
        keep: timedelta,
        by: By,
    ) -> None:
        """`question` was asked about the version before the transaction. What leaves can be restored for `keep`."""
        self._session = session
        self._collection = collection
        self._question = question
        self._plugins = plugins
        self._keep = keep
        self._by = by

    def admit(self, row: Version) -> Rotated:
        """Evict for the version what its collection's strategy chooses, and count it from now on.

        Raises `RuleError` if it is refused, or if the newest version, or the newest good one, would be evicted for the
        older one, and `OutdatedDecisionError`. Nothing has changed then.
        """
        state, evicted = self._decide(row)
        good = find_newest_good(self._session, self._collection.id)
        check_keeps_newest(state, Decision(evicted=evicted), row.number, good=good.id if good else None)
        return self._count(row, evicted)

    def admit_judged(self, row: Version) -> Rotated:
        """Do the same for a version that was accepted already: it is counted although the collection is full.

        If only newer versions that are as good could make room for it, it goes to the trash itself, unless it is pinned
        or locked. Raises `OutdatedDecisionError`.
        """
        try:
            _, evicted = self._decide(row)
        except OutdatedDecisionError:
            raise
        except FrepoError:  # refused, failed or missing: nothing is evicted, and the next upload tries again
            rotated = self._count(row, [])
            self._collection.full_since = utc_now()
            return rotated
        leaving = find_evicted(self._session, self._collection, evicted, now=utc_now())
        if any(old.number > row.number and _badness(old) <= _badness(row) for old in leaving):
            stays = row.pinned or are_locked(self._session, [row])[0]
            return self._count(row, []) if stays else self._remove(row)
        return self._count(row, evicted)

    def _decide(self, row: Version) -> tuple[RotationState, Sequence[VersionInfo]]:
        question, collection = self._question, CollectionRecord.of(self._collection)
        at = question.answer.at if question.answer else utc_now()
        state = read_state(
            self._session,
            self._plugins,
            collection,
            now=at,
            spares_good=question.spares_good,
            version_id=question.version_id,
        )
        incoming = IncomingVersion(size=row.file.blob.size, created_at=row.created_at)
        decision = decide(self._plugins, state, incoming, ask=question.ask_in(collection, state))
        return state, decision.evicted

    def _count(self, row: Version, evicted: Sequence[VersionInfo]) -> Rotated:
        leaving = find_evicted(self._session, self._collection, evicted, now=utc_now())
        rotated = self._move(leaving, row.number)
        start_counting(self._collection, row)
        self._session.flush()
        return rotated

    def _remove(self, row: Version) -> Rotated:
        rotated = self._move([row], None)
        rotated.is_gone = True
        return rotated

    def _move(self, rows: Sequence[Version], replaced_by: int | None) -> Rotated:
        records = [VersionRecord.of(old) for old in rows]
        removed = move_to_trash(
            self._session,
            self._collection,
            rows,
            reason=TrashReason.EVICTED,
            by=self._by,
            keep=self._keep,
            now=utc_now(),
        )
        data = {} if replaced_by is None else {"replaced_by": replaced_by}
        events = eviction_events(records, removed, by=self._by, **data)
        return Rotated(events=events, released_content_ids=[*removed.released_content_ids])


def count_surplus(session: Session, collection: Collection, *, keep: int) -> None:
    """Count the pending versions but the newest `keep` without a verdict, the oldest first, while limits have room.

    None has to leave for another one then: many may arrive before the first is judged.
    """
    limits = CollectionRecord.of(collection).limits_in_force
    for row in select_pending(session, collection, limit=collection.pending_count - keep):
        is_full = limits.versions and collection.versions_count >= limits.versions
        if is_full or (limits.total_size and collection.stored_size + row.file.blob.size > limits.total_size):
            break
        start_counting(collection, row)
    session.flush()


def _badness(row: Version) -> int:
    """Return a number to compare versions by: 0 for a good one, 1 for a pending one, 2 for what is no backup."""
    verdict = Verdict(row.verdict)
    return 0 if verdict.is_good else 1 + is_bad(verdict)


def start_counting(collection: Collection, row: Version) -> None:
    """Count a version that was in quarantine or pending until now as any other."""
    size = row.file.blob.size
    if row.is_quarantined:
        collection.quarantined_count -= 1
        collection.quarantined_size -= size
    else:
        collection.pending_count -= 1
        collection.pending_size -= size
    row.quarantined_at = row.quarantine_reason = row.pending_since = None
    collection.versions_count += 1
    collection.stored_size += size
    if row.pinned:
        collection.pinned_count += 1
        collection.pinned_size += size
