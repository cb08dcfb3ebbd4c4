"""Compares the content of a version with its collection's baseline, and writes down what the next one is compared with.

The baseline is kept with the collection, because the versions that it is about are evicted.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from sqlalchemy.orm import Session

from frepo_core.db.models import Collection, Version
from frepo_core.domain.backups.baseline import Baseline
from frepo_core.domain.backups.content_kinds import ContentKind
from frepo_core.domain.backups.guards import Objection
from frepo_core.domain.backups.verdicts import GOOD, Verdict
from frepo_core.domain.structs import struct
from frepo_core.errors import RuleError, VersionKindError, VersionUnchangedError

from ...base.records import CollectionRecord
from ...content.checks.upload_checks import CheckReport
from ..rows.verdicts import is_good, judge_reports
from .newest_size import find_newest_size


@struct
class Arrival:
    """A content that arrives: its size in bytes, when (UTC), its SHA-256, and what upload checks say that it is.

    `digest` is empty and `kind` None if they are not known, or not yet. `awaited` is what it seems to be while a
    check has not ended.
    """

    size: int
    at: datetime
    digest: str = ""
    kind: ContentKind | None = None
    awaited: ContentKind | None = None

    @classmethod
    def of(cls, size: int, at: datetime, reports: Sequence[CheckReport], digest: str = "") -> Self:
        """Describe a content by what upload checks have said of it."""
        outcomes = {report.outcome for report in reports}
        kind = _kind_of(reports) if reports and outcomes <= {"good", "not checked", "pending"} else None
        if "pending" in outcomes:
            return cls(size=size, at=at, digest=digest, awaited=kind if kind and kind.kinds else None)
        return cls(size=size, at=at, digest=digest, kind=kind)


def _kind_of(reports: Sequence[CheckReport]) -> ContentKind | None:
    """Return what the upload checks say that a content is; None if none looks."""
    judged = judge_reports(reports).verdict
    found = [
        ContentKind(kinds=report.kinds, database=report.database, verdict=judged)
        for report in reports
        if report.kinds is not None
    ]
    if not found:
        return None
    kind = found[0] if len(found) == 1 else max(found, key=lambda one: (len(one.formats), len(one.kinds)))
    has_failed = len(reports) > 1 and not all(report.has_answered for report in reports)
    return None if has_failed and not kind.formats else kind


def find_objection(session: Session, collection: CollectionRecord, arrival: Arrival) -> Objection | None:
    """Return the objection of the first guard that a content violates, or None.

    What is neither a dump nor an archive is put into quarantine after versions that were, without any guard.
    """
    guards, baseline = collection.guards, Baseline.load(collection.baseline)
    if not guards.looks_at_contents:
        return _find_unrecognised(baseline, arrival)
    error: RuleError | None = None
    if guards.min_version_size or guards.compares_sizes:
        usual = baseline.median() if guards.compares_sizes else None
        if usual is None and guards.compares_sizes:
            usual = find_newest_size(session, collection.id, is_good())
        error = guards.find_violation(arrival.size, usual, largest=baseline.largest_median(arrival.at))
    if error is None and guards.max_decline_percent:
        error = guards.find_decline(baseline.decline(arrival.size, arrival.at))
    if error is None and guards.expects_kind and arrival.kind is not None:
        error = _find_oddity(baseline, arrival.kind, arrival.at)
    if error is None and guards.days_unchanged:
        error = guards.find_standstill(baseline.days_unchanged(arrival.digest, arrival.at))
    return Objection(error=error, action=guards.action) if error else _find_unrecognised(baseline, arrival)


def note_arrival(collection: Collection, arrival: Arrival, objection: Objection | None, verdict: Verdict) -> str:
    """Write the baseline after a version, whose upload was not overtaken; return how its format changed, if it did."""
    baseline, change = Baseline.load(collection.baseline), ""
    if objection is None and verdict is Verdict.PENDING:
        baseline = baseline.after_digest(arrival.digest, arrival.at)
        baseline = baseline.after_pending(arrival.size, arrival.awaited, arrival.at)
    elif objection is None and verdict in GOOD:
        change = _find_change(collection, baseline, arrival.kind) if arrival.kind else ""
        baseline = baseline.after_digest(arrival.digest, arrival.at)
        baseline = _after_good(collection, baseline, arrival.size, arrival.kind, arrival.at)
    elif objection is not None and objection.reason == VersionKindError.text and arrival.kind:
        baseline = baseline.after_oddity(arrival.kind, arrival.at)
    elif objection is not None and objection.reason == VersionUnchangedError.text:
        baseline = baseline.after_digest(arrival.digest, arrival.at)
    else:
        return ""
    collection.baseline = baseline.dump()
    return change


def compare_late(collection: Collection, version: Version, kind: ContentKind | None) -> tuple[Objection | None, str]:
    """Compare a version whose last check has ended, and is good, and write the baseline.

    Return the objection to its kind, and how its format changed. A version that a person has released is accepted.
    """
    baseline, at, size = Baseline.load(collection.baseline), version.created_at, version.file.blob.size
    record = CollectionRecord.of(collection)
    compares = record.guards.expects_kind and kind is not None and version.released_at is None
    error = _find_oddity(baseline, kind, at) if compares and kind else None
    objection = Objection(error=error, action=record.guards.action) if error else None
    if objection is None and version.released_at is None:
        objection = _find_unrecognised(baseline.before(at), Arrival(size=size, at=at, kind=kind))
    if objection is not None and kind is not None:
        collection.baseline = baseline.after_oddity(kind, at).dump()
        return objection, ""
    change = _find_change(collection, baseline, kind)
    collection.baseline = _after_good(collection, baseline, size, kind, at).dump()
    return None, change


def start_anew(collection: Collection, version: Version) -> None:
    """Compare later versions with this one only, because a person has released it."""
    blob, at = version.file.blob, version.created_at
    baseline = Baseline().after_digest(blob.digest, at)
    if Verdict(version.verdict).is_good:
        baseline = _after_good(collection, baseline, blob.size, None, at)
    collection.baseline = baseline.dump()


def _after_good(
    collection: Collection, baseline: Baseline, size: int, kind: ContentKind | None, at: datetime
) -> Baseline:
    """Return the baseline after a good version. The sizes of nights are kept only for the guard that compares them."""
    known = baseline.after_good(size, kind, at)
    return known.after_night(size, at) if collection.max_decline_percent else known


def _find_oddity(baseline: Baseline, kind: ContentKind, at: datetime) -> VersionKindError | None:
    reason = baseline.find_oddity(kind, at)
    return VersionKindError(context={"message": reason}) if reason else None


def _find_unrecognised(baseline: Baseline, arrival: Arrival) -> Objection | None:
    reason = baseline.find_unrecognised(arrival.kind, arrival.size) if arrival.kind else ""
    return Objection(error=VersionKindError(context={"message": reason}), action="quarantine") if reason else None


def _find_change(collection: Collection, baseline: Baseline, kind: ContentKind | None) -> str:
    return baseline.find_change(kind) if collection.expects_kind and kind else ""
