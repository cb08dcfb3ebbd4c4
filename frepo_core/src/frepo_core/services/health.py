"""The health check: whether the database answers, the storage returns what it stored, and the upkeep works."""

import hmac
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlalchemy import func, select

from frepo_core.db import Database, migrations
from frepo_core.db.models import Blob
from frepo_core.domain.identity import Actor
from frepo_core.errors import AccessDeniedError, BytesMissingError, ConfigurationError, StorageFull, StorageUnavailable
from frepo_core.plugins import HealthCheck, Owned, PluginContext, PluginRegistry
from frepo_core.settings import Settings

from .blobs.backends import Backends
from .events.masking import Mask
from .events.storage_states import StorageStates
from .health_checks import HealthChecks
from .plugin_calls import call_with_context
from .upkeep.job_health import LEADERLESS, JobReport, check_jobs, check_worker, report_jobs

_CHECK = Actor(name="system:health")
_UNKNOWN = "Not known, because the database does not work"


@dataclass(frozen=True, kw_only=True)
class HealthReport:
    """The problems that were found, as messages; all are empty if everything works.

    `plugins` are those of the health checks of plug-ins, by the check's name. `reports` are about all jobs.
    """

    database: tuple[str, ...]
    storage: tuple[str, ...]
    worker: tuple[str, ...]
    jobs: tuple[str, ...]
    reports: Sequence[JobReport] = ()
    plugins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_healthy(self) -> bool:
        """Return whether no problem was found."""
        own = (self.database, self.storage, self.worker, self.jobs)
        return not any([*own, *self.plugins.values()])


class Health:
    """Checks the database, the storage, the worker, its jobs, and what plug-ins check, for monitoring.

    A read-only service needs no worker.

    Raises `ConfigurationError` for a check of a plug-in that has the name of one of the service's own.
    """

    def __init__(
        self,
        database: Database,
        backends: Backends,
        settings: Settings,
        plugins: PluginRegistry,
        contexts: Mapping[str, PluginContext],
        states: StorageStates,
        mask: Mask,
    ) -> None:
        self._database = database
        self._backends = backends
        self._states = states
        self._code = settings.health_check_code.get_secret_value()
        self._started = time.monotonic()
        self._reports: Sequence[JobReport] = ()
        own = [
            HealthCheck(name="database", run=self._check_database),
            HealthCheck(name="storage", run=self._check_storage),
            HealthCheck(name="blobs", run=self._check_blobs),
            HealthCheck(name="worker", run=self._check_worker),
            HealthCheck(name="jobs", run=self._check_jobs),
        ]
        self._needs_worker = not settings.read_only
        for check in own:
            if check.name in plugins.health_checks:
                origin = plugins.health_checks[check.name].plugin.origin
                raise ConfigurationError(f"{origin} names a health check {check.name!r}, as frepo does. Rename it.")
        self._plugin_names = tuple(plugins.health_checks)
        theirs = [_bound(owned, contexts[owned.plugin.name]) for owned in plugins.health_checks.values()]
        origins = {name: f"{name!r} of {owned.plugin.origin}" for name, owned in plugins.health_checks.items()}
        self._checks = HealthChecks([*own, *theirs], mask, origins)

    def report(self, code: str) -> HealthReport:
        """Run all checks. Raises `AccessDeniedError` for a wrong code, and always if no code is set."""
        if not self._code or not hmac.compare_digest(self._code.encode(), code.encode()):
            raise AccessDeniedError("No access: the parameter code must be the value of HEALTH_CHECK_CODE")
        found = self.run()
        database, storage, worker, jobs = (found[name] for name in ("database", "storage", "worker", "jobs"))
        if database:  # the checks that read the database only repeat that
            worker = jobs = (_UNKNOWN,)
        else:
            storage += found["blobs"]
        plugins = {name: found[name] for name in self._plugin_names}
        reports = () if database else self._reports
        return HealthReport(
            database=database, storage=storage, worker=worker, jobs=jobs, reports=reports, plugins=plugins
        )

    def run(self) -> dict[str, tuple[str, ...]]:
        """Run all checks at the same time; return the problems that each found, by its name."""
        return self._checks.run()

    def _check_database(self) -> None:
        self._database.check()
        migrations.check_is_complete(self._database.engine)

    def _check_storage(self) -> None:
        storage = self._backends.current
        try:
            self._backends.get(storage).check()
        except (StorageFull, StorageUnavailable) as error:
            self._states.failed(storage, error, by=_CHECK)
            raise
        self._states.worked(storage, by=_CHECK)

    def _check_blobs(self) -> None:
        with self._database.reading() as session:
            damaged = session.scalar(select(func.count()).select_from(Blob).where(Blob.damaged_at.is_not(None)))
        if damaged:
            raise BytesMissingError(f"{damaged} blobs are damaged, storage:verify lists them")

    def _check_worker(self) -> None:
        # A worker of this process needs some seconds to begin.
        if self._needs_worker and time.monotonic() - self._started > LEADERLESS.total_seconds():
            check_worker(self._database)

    def _check_jobs(self) -> None:
        self._reports = report_jobs(self._database)
        if self._needs_worker:
            check_jobs(self._database, self._reports)


def _bound(owned: Owned[HealthCheck], context: PluginContext) -> HealthCheck:
    """Return the check with its context bound, if its function takes one."""
    return replace(owned.spec, run=partial(call_with_context, owned.spec.run, context))
