"""Which collections the restore tests of a night test, and in which order."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, or_, select

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection

# More are not tested in one night.
MAX_WAITING = 10_000
_TRIED, _TESTED = Collection.restore_tried_at, Collection.restore_tested_at


def find_waiting(database: Database, since: datetime, *, every: timedelta) -> Sequence[str]:
    """Return the ids of the collections that were not tested since a time (UTC, aware), in the order of their turn.

    Those without a good test for `every`, the setting `restore_tests.every`, come before the others; among both, those
    that were never tested come first, then those whose last test is the longest ago. One that got no version since its
    last good test, which was within `every`, does not wait.
    """
    is_recent = func.coalesce(_TESTED >= utc_now() - every, False)
    is_same = func.coalesce(Collection.arrived_at <= _TESTED, False)
    query = select(Collection.id).where(Collection.versions_count > 0, or_(_TRIED.is_(None), _TRIED < since))
    query = query.where(~(is_recent & is_same))
    order = (is_recent, _TRIED.is_not(None), _TRIED, Collection.created_at, Collection.id)
    with database.reading() as session:
        return session.scalars(query.order_by(*order).limit(MAX_WAITING)).all()
