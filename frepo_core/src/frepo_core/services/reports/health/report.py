"""The report of the health checks: whether the database answers, the storage is intact, and the upkeep works."""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from frepo_core.domain.identity import Identity
from frepo_core.errors import AccessDeniedError, ConfigurationError
from frepo_core.plugins import HealthCheck, PluginContext
from frepo_core.plugins.discovery import describe_core
from frepo_core.plugins.registry import Owned, make_contexts

from ...access.visibility.job_output import HIDDEN_OUTPUT, sees_output
from ...base.plugin_failures import call_with_context
from ...foundation import Foundation
from ...upkeep.engine.job_reports import JobReport
from ..figures import Figures
from .check_runs import HealthChecks
from .core_checks import CoreChecks

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
    """Runs the health checks of the core and of the plug-ins, for monitoring.

    Raises `ConfigurationError` for a check of a plug-in that has the name of one of the core.
    """

    def __init__(self, base: Foundation, figures: Sequence[Figures] = ()) -> None:
        self._code = base.settings.health_check_code.get_secret_value()
        self._core = CoreChecks(base, figures)
        core = describe_core(self._core)
        own = {check.name: Owned(spec=check, plugin=core) for check in core.health_checks}
        others = base.plugins.health_checks
        for name in others.keys() & own.keys():
            raise ConfigurationError(
                f"{others[name].plugin.origin} names a health check {name!r}, as frepo does. Rename it."
            )
        contexts = {**make_contexts([core], {}, base.facade_of), **base.contexts}
        checks = [_bound(owned, contexts[owned.plugin.name]) for owned in (own | others).values()]
        origins = {name: f"{name!r} of {owned.plugin.origin}" for name, owned in others.items()}
        self._plugin_names = tuple(others)
        self._checks = HealthChecks(checks, base.mask, origins)

    def report(self, code: str) -> HealthReport:
        """Run all checks. Raises `AccessDeniedError` for a wrong code, and always if no code is set."""
        if not self._code or not hmac.compare_digest(self._code.encode(), code.encode()):
            raise AccessDeniedError("No access: the parameter code must be the value of HEALTH_CHECK_CODE")
        found = self.run()
        database, storage, worker, jobs = (found[name] for name in ("database", "storage", "worker", "jobs"))
        if database:  # the checks that read the database only repeat that
            worker = jobs = (_UNKNOWN,)
        else:
            for name in ("blobs", *self._core.of_features):
                storage += found[name]
        storage += found["trash"]
        for name in self._core.further_checks:
            storage += found[name]
        plugins = {name: found[name] for name in self._plugin_names}
        reports = () if database else self._core.job_reports
        return HealthReport(
            database=database, storage=storage, worker=worker, jobs=jobs, reports=reports, plugins=plugins
        )

    def run(self, *, is_logged: bool = True) -> dict[str, tuple[str, ...]]:
        """Run all checks at the same time; return the problems that each found, by its name."""
        return self._checks.run(is_logged=is_logged)

    def run_for(self, by: Identity) -> dict[str, tuple[str, ...]]:
        """Run all checks as `run` does, for a token: without the errors of jobs, if their output is not for it."""
        found = self.run()
        if found["jobs"] and not sees_output(by):
            found["jobs"] = (HIDDEN_OUTPUT,)
        return found


def _bound(owned: Owned[HealthCheck], context: PluginContext) -> HealthCheck:
    """Return the check with its context bound, if its function takes one."""
    return replace(owned.spec, run=partial(call_with_context, owned.spec.run, context))
