"""The rows that the transaction of an upload writes: the new version, and the versions that leave for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, Version
from frepo_core.domain.backup_guards import Objection, find_strictest
from frepo_core.domain.identity import Identity
from frepo_core.errors import DuplicateVersionError, VersionConflictError
from frepo_core.plugins import IncomingVersion
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.settings import Settings

from ...base.records import BlobRecord, CollectionRecord, VersionRecord
from ...content.blobs.failpoints import hit
from ...content.checks.upload_checks import CheckReport
from ..quarantine import OVERTAKEN, describe_nights
from ..trash.removal import TrashReason, move_to_trash
from ..versions.addition import AddedVersion, Committed, objections_of
from ..versions.version_rows import find_evicted, find_surplus, has_content, insert_version
from .decision import Decision, decide
from .overtaken import is_overtaken, note_accepted
from .questions import Question
from .stored_state import find_objection, read_state


@dataclass(frozen=True, kw_only=True)
class Uploaded:
    """An upload whose content is stored.

    `noted` is the last number of the collection when the upload began. `after` is the number that it requires now
    (`If-Match`). `reports` are those of the upload checks.
    """

    by: Identity
    noted: int
    after: int | None
    reports: Sequence[CheckReport]


@dataclass(frozen=True, kw_only=True)
class _Verdict:
    """What was decided about a version; `objection` is what its content is suspicious for."""

    decision: Decision
    objection: Objection | None
    is_overtaken: bool

    @property
    def quarantine_reason(self) -> str | None:
        if self.is_overtaken:
            return OVERTAKEN
        return self.objection.reason if self.objection and self.decision.is_quarantined else None


class AddedRows:
    """Writes the rows of new versions. The caller has locked the row of the collection, and commits."""

    def __init__(self, plugins: PluginRegistry, settings: Settings) -> None:
        self._plugins = plugins
        self._quarantine_max = settings.quarantine_max
        self._keep = settings.trash_keep
        self._refuses_duplicates = settings.backup_duplicate_versions == "refuse"

    def write(
        self, session: Session, row: Collection, blob: BlobRecord, uploaded: Uploaded, question: Question
    ) -> Committed:
        """Decide about the version, move those that leave for it into the trash, insert it.

        Raises `VersionConflictError`, or a `RuleError` that refuses the version.
        """
        incoming = IncomingVersion(size=blob.size, created_at=utc_now())
        verdict = self._judge(session, row, blob, uploaded, question, incoming)
        leaving, why = self._find_leaving(session, row, verdict)
        if not verdict.decision.is_quarantined:
            note_accepted(session, row, uploaded.noted, uploaded.by)
        evicted = [VersionRecord.of(old) for old in leaving]
        removed = move_to_trash(session, row, leaving, reason=why, by=uploaded.by, keep=self._keep)
        hit("versions_deleted")
        objection, reason = verdict.objection, verdict.quarantine_reason
        version = insert_version(session, row, blob, incoming, objection=objection, quarantine_reason=reason)
        return Committed(
            added=AddedVersion(version=version, collection=CollectionRecord.of(row)),
            objection=objection,
            evicted=evicted,
            removed=removed,
            nights=describe_nights(row, reason),
        )

    def _judge(
        self,
        session: Session,
        row: Collection,
        blob: BlobRecord,
        uploaded: Uploaded,
        question: Question,
        incoming: IncomingVersion,
    ) -> _Verdict:
        collection = CollectionRecord.of(row)
        check_last_number(collection, uploaded.after)
        if self._refuses_duplicates and has_content(session, row.id, blob):
            raise DuplicateVersionError()
        objection = find_strictest(objections_of(find_objection(session, collection, blob.size), uploaded.reports))
        at = question.answer.at if question.answer else incoming.created_at
        state = read_state(session, self._plugins, collection, now=at)
        is_late = is_overtaken(session, row, uploaded.noted, uploaded.by)
        ask = question.ask_in(collection, state)
        decision = decide(self._plugins, state, incoming, objection=objection, is_overtaken=is_late, ask=ask)
        # Nothing is said about the content of an upload that was overtaken.
        return _Verdict(decision=decision, objection=None if is_late else objection, is_overtaken=is_late)

    def _find_leaving(
        self, session: Session, row: Collection, verdict: _Verdict
    ) -> tuple[Sequence[Version], TrashReason]:
        """Return the versions that leave, and why: a version in quarantine evicts none but older ones there."""
        if verdict.decision.is_quarantined:
            most = self._quarantine_max - 1
            return find_surplus(
                session, row, keep=most, is_overtaken=verdict.is_overtaken
            ), TrashReason.QUARANTINE_SURPLUS
        return find_evicted(session, row, verdict.decision.evicted), TrashReason.EVICTED


def check_last_number(collection: CollectionRecord, number: int | None) -> None:
    """Check what an upload requires (`If-Match`); None requires nothing. Raises `VersionConflictError`."""
    if number is not None and number != collection.last_number:
        raise VersionConflictError(
            f"The last version is v{collection.last_number}, not v{number}: another came first",
            context={"last_version": collection.last_number},
        )
