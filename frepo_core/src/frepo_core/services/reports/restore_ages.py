"""When collections were restore-tested, and which ones were not tested for too long."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import ColumnElement, func, or_, select

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection
from frepo_core.domain.identity import Identity
from frepo_core.domain.structs import struct
from frepo_core.settings import Settings

from ..backups.rows.collection_search import visible_to
from ..backups.versions.version_checks import BROKEN, GOOD, UNKNOWN
from ..base.records import CollectionRecord

_TESTED = Collection.restore_tested_at
_HAS_VERSIONS = Collection.versions_count > 0


@struct
class RestoreCounts:
    """How many collections with versions had this outcome in their last restore test; `never`: they had none."""

    never: int
    good: int
    broken: int
    unknown: int


@struct
class UntestedCollections:
    """How many collections had no good restore test for longer than `every`, and some of them, the longest first."""

    every: timedelta
    number: int
    collections: Sequence[CollectionRecord]


class RestoreAges:
    """Reads when collections were restore-tested. The columns are written with the results of the tests."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._every = settings.restore_tests_every
        self._has_command = bool(settings.restore_tests_command)

    def count(self) -> RestoreCounts:
        """Count the collections with versions by the outcome of their last restore test."""
        outcome, number = Collection.restore_outcome, func.count().label("number")
        query = select(outcome, number).where(_HAS_VERSIONS).group_by(outcome)
        counts = {row.restore_outcome: row.number for row in self._database.fetch_rows(query)}
        return RestoreCounts(
            never=counts.get(None, 0),
            good=counts.get(GOOD, 0),
            broken=counts.get(BROKEN, 0),
            unknown=counts.get(UNKNOWN, 0),
        )

    def find_untested(self, limit: int, *, by: Identity | None = None) -> UntestedCollections:
        """Return the collections whose last good test is longer ago than `restore_tests.every`.

        At most `limit` of those that a token may see are named; `by` is None for `frepo`. Those that were never
        tested count if they are older than that and there is a command for nightly tests.
        """
        latest = utc_now() - self._every
        is_untested: ColumnElement[bool] = _TESTED < latest
        if self._has_command:
            is_untested = or_(is_untested, _TESTED.is_(None) & (Collection.created_at < latest))
        found = select(Collection).where(_HAS_VERSIONS, is_untested, *(visible_to(by) if by else ()))
        with self._database.reading() as session:
            number = session.scalar(select(func.count()).select_from(Collection).where(_HAS_VERSIONS, is_untested))
            order = (_TESTED.is_not(None), _TESTED, Collection.created_at, Collection.id)
            rows = session.scalars(found.order_by(*order).limit(limit))
            collections = [CollectionRecord.of(row) for row in rows]
        return UntestedCollections(every=self._every, number=number or 0, collections=collections)
