"""Counts the versions by what is known about them."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Collection, Version
from frepo_core.domain.backups.verdicts import GOOD, Verdict
from frepo_core.domain.structs import struct

_NOT_GOOD = tuple(verdict for verdict in Verdict if verdict not in GOOD)


@struct
class VerdictCounts:
    """How many versions are good, pending, suspicious and broken, those in quarantine included."""

    good: int
    pending: int
    suspicious: int
    broken: int


def count_by_verdict(session: Session) -> VerdictCounts:
    """Count the versions that are not good, which are few, by the index; the others are the good ones."""
    query = select(Version.verdict, func.count()).where(Version.verdict.in_(_NOT_GOOD)).group_by(Version.verdict)
    found = {verdict: number for verdict, number in session.execute(query)}
    counts = Collection.versions_count + Collection.pending_count + Collection.quarantined_count
    total = int(session.scalar(select(func.coalesce(func.sum(counts), 0))) or 0)
    not_good = {verdict.value: found.get(verdict.value, 0) for verdict in _NOT_GOOD}
    return VerdictCounts(good=max(total - sum(not_good.values()), 0), **not_good)
