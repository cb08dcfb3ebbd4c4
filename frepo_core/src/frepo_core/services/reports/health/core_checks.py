"""The health checks of the core: a plug-in with the hook that others use, too."""

import contextlib
import time
from collections.abc import Sequence
from functools import partial

from frepo_core.db import migrations
from frepo_core.domain.identity import Actor
from frepo_core.errors import (
    BytesMissingError,
    CollectionProblemError,
    DatabaseUnavailableError,
    StorageFull,
    StorageUnavailable,
)
from frepo_core.plugins import HealthCheck, hookimpl

from ...backups.collections.problem_reports import messages_of, oldest_problems
from ...content.storages.storage_space import StorageSpace
from ...foundation import Foundation
from ...upkeep.engine.job_reports import JobReport, report_jobs
from ..damaged_objects import count_damaged
from ..figures import Figures
from ..job_health import LEADERLESS, check_jobs, check_worker

# Less than the checks of plug-ins have: /health is answered within 5 seconds if only the database hangs.
DATABASE_SECONDS = 3
_CHECK = Actor(name="system:health")
# The check of the problems of collections that plug-ins report.
PROBLEMS = "collection_problems"
_NAMED = 5


class CoreChecks:
    """A plug-in that checks the database, the storages, the worker, its jobs, and the problems of collections.

    A read-only service needs no worker.

    The checks of the first storage are `storage` and `trash`, those of another one have its name at the end. If that
    one was promoted since, they look at the storage that was the first one when the process began. `figures` have the
    checks of features.
    """

    def __init__(self, base: Foundation, figures: Sequence[Figures] = ()) -> None:
        self._database = base.database
        self._backends = base.backends
        self._presence = base.presence
        self._states = base.storage_states
        self._figures = figures
        self._space = StorageSpace(base.backends, base.presence, base.settings)
        self._first = base.backends.current
        self._further = [name for name in base.backends.configured if name != base.backends.current]
        self._needs_worker = not base.settings.read_only
        self._started = time.monotonic()
        self.job_reports: Sequence[JobReport] = ()  # of the last check of the jobs

    @property
    def of_features(self) -> list[str]:
        """The names of the checks of features that are about the storages."""
        return [name for each in self._figures for name in each.of_storage]

    @property
    def further_checks(self) -> list[str]:
        """The names of the checks of other storages than the first one."""
        return [f"{check}_{name}" for name in self._further for check in ("storage", "trash")]

    @hookimpl
    def frepo_health_checks(self) -> Sequence[HealthCheck]:
        """Return the checks of the core."""
        return [
            HealthCheck(name="database", run=self._check_database, deadline=DATABASE_SECONDS),
            HealthCheck(name="storage", run=self._check_storage),
            *(HealthCheck(name=f"storage_{name}", run=partial(self._check_further, name)) for name in self._further),
            HealthCheck(name="blobs", run=self._check_blobs, deadline=DATABASE_SECONDS),
            *(check for each in self._figures for check in each.checks),
            HealthCheck(name="trash", run=self._space.check),
            *(HealthCheck(name=f"trash_{name}", run=partial(self._check_trash, name)) for name in self._further),
            HealthCheck(name="worker", run=self._check_worker, deadline=DATABASE_SECONDS),
            HealthCheck(name="jobs", run=self._check_jobs, deadline=DATABASE_SECONDS),
            HealthCheck(name=PROBLEMS, run=self._check_collections, deadline=DATABASE_SECONDS),
        ]

    def _check_database(self) -> None:
        self._database.check(for_writes=self._needs_worker)
        migrations.check_is_complete(self._database.engine)

    def _check_storage(self, storage: str | None = None) -> None:
        storage = storage or self._backends.current
        try:
            with contextlib.suppress(DatabaseUnavailableError):  # a check of its own says so
                self._presence.look(storage)
            self._backends.get(storage).check()
        except (StorageFull, StorageUnavailable) as error:
            self._states.failed(storage, error, by=_CHECK)
            raise
        self._states.worked(storage, by=_CHECK)

    def _check_further(self, name: str) -> None:
        self._check_storage(self._first if name == self._backends.current else name)

    def _check_trash(self, name: str) -> None:
        self._space.of(self._first if name == self._backends.current else name).check()

    def _check_blobs(self) -> None:
        with self._database.reading() as session:
            damaged = count_damaged(session, self._backends)
        if damaged:
            blobs = "1 blob is" if damaged == 1 else f"{damaged} blobs are"
            raise BytesMissingError(f"{blobs} damaged, storage:verify lists them")

    def _check_worker(self) -> None:
        # A worker of this process needs some seconds to begin.
        if self._needs_worker and time.monotonic() - self._started > LEADERLESS.total_seconds():
            check_worker(self._database)

    def _check_collections(self) -> None:
        with self._database.reading() as session:
            found = oldest_problems(session, _NAMED + 1)
        if found:
            named = [f"{row.filename} ({row.id}): {'; '.join(messages_of(row))}" for row in found[:_NAMED]]
            more = ["and more: `frepo backup:list --state problem`"] * (len(found) > _NAMED)
            raise CollectionProblemError(". ".join(named + more))

    def _check_jobs(self) -> None:
        with self._database.reading() as session:
            self.job_reports = report_jobs(session)
        if self._needs_worker:
            check_jobs(self._database, self.job_reports)
