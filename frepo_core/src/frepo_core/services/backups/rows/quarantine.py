"""Versions in quarantine: they are counted apart, and a collection keeps only the newest of them.

A person releases or deletes them. Until then nothing depends on them: no limit, no strategy, no deadline.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, or_

from frepo_core.db.models import Collection, Version
from frepo_core.domain.backups.guards import GUARD_REASONS
from frepo_core.domain.backups.verdicts import Verdict

SURPLUS = "quarantine_surplus"
# The reason for a version whose upload ended after newer ones of the same client. It says nothing about the backups.
OVERTAKEN = "overtaken"
# Verdicts that speak against a version.
CONDEMNED = (Verdict.SUSPICIOUS.value, Verdict.BROKEN.value)
# Uploads within these hours belong to one night, so that an upload that is tried again does not count twice.
NIGHT = timedelta(hours=12)
# After this number of nights with the same reason, the event says that backups may look like this from now on.
NEW_NORMAL_NIGHTS = 3


def enter_quarantine(collection: Collection, size: int, reason: str, *, now: datetime) -> None:
    """Count a version of `size` bytes that is put into quarantine, and the night if it is another one.

    A version that was overtaken is of no night.
    """
    collection.quarantined_count += 1
    collection.quarantined_size += size
    if reason == OVERTAKEN:
        return
    if collection.quarantine_reason != reason:
        collection.quarantine_nights = 0
    counted_at = collection.quarantine_counted_at
    if not collection.quarantine_nights or counted_at is None or now - counted_at >= NIGHT:
        collection.quarantine_reason = reason
        collection.quarantine_nights += 1
        collection.quarantine_counted_at = now


def end_nights(collection: Collection) -> None:
    """Begin to count nights anew, because a version was added or released."""
    collection.quarantine_reason = collection.quarantine_counted_at = None
    collection.quarantine_nights = 0


def describe_nights(collection: Collection, reason: str, verdict: Verdict) -> dict[str, object]:
    """Return what the event says about the nights in a row on which versions were quarantined for this reason.

    What a check has found is never the new normal: only a guard objects to versions for being other than before.
    """
    nights = 0 if reason == OVERTAKEN else collection.quarantine_nights
    may_be_normal = verdict is not Verdict.BROKEN and not reason.startswith("check ")
    return {"nights": nights, "new_normal": may_be_normal and nights >= NEW_NORMAL_NIGHTS}


def is_overtaken() -> ColumnElement[bool]:
    """Return the condition that a whole version was overtaken: rotation decides how long it stays."""
    return (Version.quarantine_reason == OVERTAKEN) & Version.verdict.not_in(CONDEMNED)


def is_there_for(reasons: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that a version is in quarantine for one of the reasons, by their short names."""
    column = Version.quarantine_reason
    texts = [GUARD_REASONS.get(one, one) for one in reasons]
    return or_(column.in_(texts), column.startswith("check ")) if "check" in reasons else column.in_(texts)
