"""Attempts to check a version later: they are counted before they begin, as a check may cost the process its life."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import VersionCheck
from frepo_core.domain.identity import By
from frepo_core.plugins import PendingCheck

from .late_results import ATTEMPTS, UNJUDGED, LateResults
from .version_checks import PENDING, NewCheck

KILLED = f"{UNJUDGED} after {ATTEMPTS} attempts: the process that checked it was ended each time"


class CheckAttempts:
    """Counts attempts."""

    def __init__(self, database: Database, late_results: LateResults) -> None:
        self._database = database
        self._late_results = late_results

    @contextmanager
    def attempt(self, check: PendingCheck, *, by: By) -> Iterator[bool]:
        """Count an attempt that begins now, and take it back if the block raises. Return whether the check is due.

        It is not if it is not pending any more, or if the process has ended during the last of its attempts: then the
        version becomes suspicious here.
        """
        is_due = self._database.write(lambda session: _count(session, check, 1))
        if not is_due and self._is_used_up(check):
            self._late_results.record(
                check.version_id, NewCheck(name=check.name, outcome="suspicious", message=KILLED), by=by
            )
        try:
            yield is_due
        except BaseException:
            if is_due:
                self._database.write(lambda session: _count(session, check, -1))
            raise

    def _is_used_up(self, check: PendingCheck) -> bool:
        attempts = select(VersionCheck.attempts).where(_is(check))
        with self._database.reading() as session:
            return (session.scalar(attempts) or 0) >= ATTEMPTS


def _count(session: Session, check: PendingCheck, step: int) -> bool:
    attempts = VersionCheck.attempts + step
    query = update(VersionCheck).where(_is(check), attempts.between(0, ATTEMPTS)).values(attempts=attempts)
    return bool(session.execute(query).rowcount)  # type: ignore[attr-defined]


def _is(check: PendingCheck) -> ColumnElement[bool]:
    is_pending = VersionCheck.outcome == PENDING
    return (VersionCheck.version_id == check.version_id) & (VersionCheck.name == check.name) & is_pending
