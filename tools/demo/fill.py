"""Fills an empty service with a hundred collections and a year of history: to look at, for screenshots and for tests.

What exists in the end was uploaded through the same services as by clients, only with a simulated time: contents that
can be downloaded, counters, tokens, the last week with all that happened. Of what was evicted before, there are
events and samples, as in a service that ran for a year.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from frepo_core.db import Database, simulated_time, utc_now
from frepo_core.db.models import Collection, Content, Event, File, Token, Version
from frepo_core.domain.backups.runs import NewRun
from frepo_core.domain.backups.verdicts import RESTORE
from frepo_core.domain.identity import Actor, derived_uuid4
from frepo_core.domain.limits import COUNT, ONE, TOTAL
from frepo_core.errors import ConfigurationError, RuleError
from frepo_core.features.overview.samples import take_samples
from frepo_core.services.backups.collections.new_collection import DEFAULT_STRATEGY
from frepo_core.services.backups.collections.states import BackupState
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.versions.version_checks import NewCheck
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.upkeep.overdue_events import report_overdue
from frepo_core.services.upkeep.storage import verify

from .catalogue import DAY, RETIRED, Plan, make_plans
from .contents import make_content
from .damage import damage_version
from .files import add_file, make_files
from .job_history import job_events, write_job_runs
from .past import PastEvents, write_samples
from .people import OPERATOR, WEB_SITE, People
from .uploads import KEEP, RECENT, Past, Upload, simulate
from .verdicts import leave_unjudged

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

Step = Callable[[], object]
REFUSES = "alert_when_backup_limit_reached"
# Also of small contents: the formats have some overhead.
SMALLEST_LIMIT = 100_000
EDITED = 0.1
_OVERDUE = Actor(name="system:overdue")
_FAILED_RUN = NewRun(
    outcome="failed",
    seconds=2,
    exit_statuses=(1, 0),
    error_output='pg_dump: error: connection to server at "10.20.0.7", port 5432 failed: Connection refused',
    host="wiki",
)
_RESTORED = NewCheck(name=RESTORE, outcome="good", message="the command ended with exit status 0 after all bytes")


@dataclass(frozen=True, kw_only=True)
class Filled:
    """What a service was filled with."""

    collections: int
    versions: int
    files: int
    tokens: int
    events: int
    size: int


def check_is_empty(database: Database) -> None:
    """Raise `ConfigurationError` if the service has a collection or a file. Tokens may exist and are kept."""
    with database.reading() as session:
        for model, what in ((Collection, "collections"), (File, "files")):
            if session.scalar(select(model.id).limit(1)) is not None:
                raise ConfigurationError(
                    f"The service in {database.name} has {what} already. The demonstration fills empty services only: "
                    "use another database and another storage, for example `make demo STATE=/tmp/frepo-demo`"
                )


def fill(
    services: "Services", *, collections: int = 100, seed: int = 1, progress: Callable[[int, int], None] | None = None
) -> Filled:
    """Fill an empty service. Names, sizes, times (before now) and contents follow from the seed, secrets are random.

    `progress` is called with the number of steps that are done, and of all. Raises `ConfigurationError` if the service
    has collections or files, and nothing has changed then.
    """
    check_is_empty(services.database)
    filler = _Filler(services, seed)
    steps = sorted(filler.steps(collections), key=lambda step: step[0])
    for done, (at, step) in enumerate(steps, start=1):
        with simulated_time(at):
            step()
        if progress is not None:
            progress(done, len(steps))
    return filler.finish()


class _Filler:
    """Makes the steps of the history, each with its time."""

    def __init__(self, services: "Services", seed: int) -> None:
        self._services = services
        self._seed = seed
        self._random = Random(seed)
        self._now = utc_now()
        self._people = People(services, self._now, self._random)
        self._events = PastEvents(services.database)
        self._pasts: dict[str, Past] = {}

    def steps(self, number: int) -> Iterator[tuple[datetime, Step]]:
        """Yield all steps. Steps that write events of the past come before the next real one, which flushes them."""
        services = self._services
        plans = make_plans(number, self._random)
        for at, step in self._people.steps(plan.sender for plan in [*plans, RETIRED]):
            yield at, self._real(step)
        for plan in plans:
            yield from self._collection_steps(simulate(plan, self._now, self._random, services.plugins))
        yield from self._collection_steps(simulate(RETIRED, self._now, self._random, services.plugins))
        yield self._now - DAY, self._real(partial(self._retire, RETIRED))
        for file in make_files(self._now, self._random):
            yield file.at, self._real(partial(add_file, services, file, self._people))
        for at, event in job_events(self._now):
            yield at, partial(self._events.add, event, at)
        yield from self._upkeep_steps()

    def finish(self) -> Filled:
        """Write what has no place in the order of events, and return what there is now."""
        services = self._services
        self._events.flush()
        self._people.store_uses()
        write_samples(services.database, self._pasts, self._now)
        write_job_runs(services.database, self._now, self._random)
        return _count(services.database)

    def _real(self, step: Step) -> Step:
        def run() -> None:
            self._events.flush()
            step()

        return run

    def _collection_steps(self, past: Past) -> Iterator[tuple[datetime, Step]]:
        collection_id = self._id_of(past.plan)
        self._pasts[collection_id] = past
        yield past.created_at, self._real(partial(self._create, collection_id, past.plan))
        for upload in past.uploads:
            yield upload.at, partial(self._upload, collection_id, past, upload)
        if past.uploads:
            yield past.uploads[-1].at - DAY, self._real(partial(self._edit, collection_id, past.plan))
        if past.plan.pin_note:
            yield self._now - timedelta(hours=30), self._real(partial(self._pin, collection_id, past.plan))
        if past.plan.state is BackupState.DAMAGED:
            damage = partial(damage_version, self._services.database, self._services.backends, collection_id)
            yield self._now - timedelta(hours=9), self._real(damage)

        if past.plan.last == "pending":
            yield self._now, self._real(partial(leave_unjudged, self._services.database, collection_id))
        if past.plan.last == "restored":
            yield self._now - timedelta(hours=7), self._real(partial(self._test_restore, collection_id))
        if past.plan.state is BackupState.FAILED and not past.plan.last:
            yield self._now - timedelta(hours=3), self._real(partial(self._fail, collection_id, past.plan))

    def _upkeep_steps(self) -> Iterator[tuple[datetime, Step]]:
        database = self._services.database
        midnight = self._now.replace(hour=0, minute=5, second=0, microsecond=0)
        for ago in range(RECENT // DAY):
            at = midnight - ago * DAY
            if at < self._now:
                yield at, self._real(partial(take_samples, database, self._services.backends, now=at))
        for ago in range(1, 24 * RECENT.days, 2):
            at = self._now - timedelta(hours=ago)
            yield at, self._real(partial(report_overdue, database, now=at, by=_OVERDUE))
        yield self._now - timedelta(hours=5), self._real(self._verify)
        rotate = partial(self._people.rotate, WEB_SITE, DAY)
        yield self._now - timedelta(hours=4), self._real(rotate)

    def _id_of(self, plan: Plan) -> str:
        return derived_uuid4("demonstration", str(self._seed), plan.name)

    def _create(self, collection_id: str, plan: Plan) -> None:
        size = _round(max(plan.size * 4, SMALLEST_LIMIT))
        change = CollectionChange(
            id=collection_id,
            filename=plan.name,
            description=plan.description,
            labels=plan.labels,
            expected_every=plan.every,
            grace=plan.grace,
            limits={COUNT: plan.limit, ONE: size, TOTAL: size * plan.limit},
            guards=plan.guards,
            **self._strategy(plan),
        )
        by = self._people.find(OPERATOR)
        self._services.collections.create(change, by=by)
        self._services.token_lists.allow(collection_id, self._people.find(plan.sender).token, by=by)

    def _strategy(self, plan: Plan) -> dict[str, Any]:
        if plan.keep and KEEP in self._services.plugins.strategies:
            return {"strategy": KEEP, "strategy_options": plan.keep}
        return {"strategy": REFUSES if plan.state is BackupState.FULL else DEFAULT_STRATEGY}

    def _pin(self, collection_id: str, plan: Plan) -> None:
        """Pin the oldest version."""
        services, by = self._services, self._people.find(OPERATOR)
        version = services.versions.find(collection_id, "first")
        services.version_edits.edit(collection_id, version.id, VersionChange(pinned=True, note=plan.pin_note), by=by)

    def _retire(self, plan: Plan) -> None:
        """Delete a collection with its versions. Without a trash, only an empty one could be deleted."""
        if self._services.settings.trash_keep:
            collection_id = self._id_of(plan)
            self._services.collections.delete(collection_id, by=self._people.find(OPERATOR), with_versions=True)
            del self._pasts[collection_id]

    def _edit(self, collection_id: str, plan: Plan) -> None:
        """Edit one collection in ten, so that there are events with values before and after."""
        if self._random.random() < EDITED or plan.state is BackupState.DAMAGED:
            change = CollectionChange(limits={}, description=f"{plan.description}. Ask before you delete it")
            self._services.collections.edit(collection_id, change, by=self._people.find(OPERATOR))

    def _upload(self, collection_id: str, past: Past, upload: Upload) -> None:
        """Upload a version. Of one that was replaced long ago, only its events are noted."""
        by = self._people.note_use(past.plan.sender)
        self._events.add_version(collection_id, past, upload, by=by)
        if upload.number in past.gone:
            return
        self._events.flush()
        content = make_content(past.plan.name, upload.size, f"{self._seed} {upload.content}", upload.content_at)
        if past.plan.last == "cut" and upload is past.uploads[-1]:
            content = content[: len(content) * 6 // 10]
        collection = self._services.collections.get(collection_id)
        try:
            self._services.add_version.add(collection, Incoming(stream=io.BytesIO(content)), by=by)
        except RuleError:
            if past.plan.state is not BackupState.FULL:
                raise

    def _fail(self, collection_id: str, plan: Plan) -> None:
        """Report a run that failed, as the client of the backup would."""
        self._services.run_reports.record(collection_id, _FAILED_RUN, by=self._people.note_use(plan.sender))

    def _test_restore(self, collection_id: str) -> None:
        """Record that the newest version was restored, as the job of the restore tests would."""
        version = self._services.versions.find(collection_id, "latest")
        self._services.late_results.record(version.id, _RESTORED, by=Actor(name="system:restore_tests"))

    def _verify(self) -> None:
        # The damage was done on purpose, so it does not belong into the log of the caller.
        actor = Actor(name="system:verify")
        verify(self._services.database, self._services.backends, report=lambda damage: None, by=actor)


def _round(size: int) -> int:
    """Return the next round size, as people choose it: 1, 2 or 5 with zeros."""
    power = int(10 ** (len(str(size)) - 1))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= size)


def _count(database: Database) -> Filled:
    counted = {"collections": Collection, "versions": Version, "tokens": Token, "events": Event}
    with database.reading() as session:
        numbers = {
            name: session.scalar(select(func.count()).select_from(model)) or 0 for name, model in counted.items()
        }
        files = session.scalar(select(func.count()).where(File.kind == "plain")) or 0
        size = session.scalar(select(func.sum(Content.size))) or 0
    return Filled(**numbers, files=files, size=int(size))
