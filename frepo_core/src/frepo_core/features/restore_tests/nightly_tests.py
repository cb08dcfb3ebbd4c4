"""The restore tests of a night: collection after collection, until the time is over."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from sqlalchemy import func, or_, select

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, RestoreChoice
from frepo_core.domain.identity import By
from frepo_core.errors import FrepoError, NotFoundError
from frepo_core.services.backups.collections.collections import Collections
from frepo_core.services.backups.rows.collection_rows import INCARNATION
from frepo_core.services.backups.versions.version_checks import GOOD
from frepo_core.settings import Settings

from .engine_names import EngineNames
from .restore_tests import RestoreTests
from .results import RestoreResult

VERSION = "good"
NAMED = 10


class RestoreFailedError(FrepoError):
    """Versions could not be restored, or their tests could not be completed."""


@dataclass(kw_only=True)
class Night:
    """What was found so far. `left` are the collections that wait, `problems` sentences about what was not good.

    `untestable` counts collections without a version to test, or with one that the command does not know. `size` is in
    bytes, `seconds` is how long the commands ran. `is_braked` says that versions were not condemned because too many
    would have been.
    """

    left: int
    good: int = 0
    untestable: int = 0
    size: int = 0
    seconds: float = 0.0
    is_braked: bool = False
    problems: list[str] = field(default_factory=list)

    @property
    def done(self) -> int:
        """The number of collections that had their turn."""
        return self.good + self.untestable + len(self.problems)

    def describe(self, name: str) -> str:
        """Return how far the night is, while the collection of this name is tested."""
        problems = f", {len(self.problems)} of them not restored" if self.problems else ""
        return f"{self.done} of {self.done + self.left} collections{problems}, now {name}"

    def describe_problems(self) -> str:
        """Return a sentence for people."""
        named = "; ".join(self.problems[:NAMED]) + ("; ..." if len(self.problems) > NAMED else "")
        text = f"{len(self.problems)} of {self.done} collections could not be restored. {named}"
        return f"Is the machine down into which versions are restored? {text}" if self.is_braked else text

    def note(self, result: RestoreResult, collection_id: str) -> None:
        """Count the result of a test."""
        self.left -= 1
        self.size += result.size
        self.seconds += result.seconds
        self.is_braked |= result.is_spared
        if result.outcome == GOOD:
            self.good += 1
        elif result.is_skipped:
            self.untestable += 1
        else:
            self.problems.append(f"Collection {collection_id}, version v{result.version.number}: {result.message}")


class NightlyTests:
    """Tests one version of each collection, by the age of the collection's last test.

    With `names`, only collections with an engine are tested: there is no command for the others.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        collections: Collections,
        tests: RestoreTests,
        names: EngineNames | None,
    ) -> None:
        self._database = database
        self._names = names
        self._collections = collections
        self._tests = tests
        self._every = settings.restore_tests_every
        self._window = settings.restore_tests_window

    def run(
        self,
        *,
        began: datetime,
        now: datetime,
        by: By,
        keep_going: Callable[[], None],
        progress: Callable[[str], None],
    ) -> Night:
        """Test collections that were not tested since `began`, until `restore_tests.window` after it is over.

        A test that runs then is completed. If the command cannot be started, no further collection is tested. Times are
        in UTC (aware). Raises what `keep_going` raises, which is called often: results until then are recorded.
        """
        deadline = time.monotonic() + (began + self._window - now).total_seconds()
        waiting = find_waiting(self._database, began, every=self._every, names=self._names)
        night = Night(left=len(waiting))
        for collection_id in waiting:
            if time.monotonic() >= deadline:
                break
            keep_going()
            try:
                collection = self._collections.get(collection_id)
                progress(night.describe(f"{collection.filename} ({collection_id})"))
                result = self._tests.run(collection, VERSION, by=by, keep_going=keep_going)
            except NotFoundError:
                night.left -= 1
                night.untestable += 1
            else:
                night.note(result, collection_id)
                if not result.is_started:
                    break
        return night


# More are not tested in one night.
MAX_WAITING = 10_000
_TRIED, _TESTED = Collection.restore_tried_at, Collection.restore_tested_at


def find_waiting(
    database: Database, since: datetime, *, every: timedelta, names: EngineNames | None = None
) -> Sequence[str]:
    """Return the ids of the collections that were not tested since a time (UTC, aware), in the order of their turn.

    Those without a good test for `every`, the setting `restore_tests.every`, come before the others; among both, those
    that were never tested come first, then those whose last test is the longest ago. One that got no version since its
    last good test, which was within `every`, does not wait. With `names`, there is no command for those without an
    engine, so they do not wait either.
    """
    is_recent = func.coalesce(_TESTED >= utc_now() - every, False)
    is_same = func.coalesce(Collection.arrived_at <= _TESTED, False)
    query = select(Collection.id, Collection.labels, RestoreChoice.engine).where(
        Collection.versions_count > 0, or_(_TRIED.is_(None), _TRIED < since)
    )
    query = query.where(~(is_recent & is_same))
    query = query.outerjoin(RestoreChoice, RestoreChoice.incarnation == INCARNATION)
    order = (is_recent, _TRIED.is_not(None), _TRIED, Collection.created_at, Collection.id)
    rows = database.fetch_rows(query.order_by(*order))
    found = (row.id for row in rows if names is None or names.of(row.engine, row.labels or ()))
    return list(islice(found, MAX_WAITING))
