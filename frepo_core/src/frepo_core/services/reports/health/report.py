"""The report of the health checks: whether the database answers, the storage is intact, and the upkeep works."""

import hmac
import logging
import threading
import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial

from frepo_core.db.waiting.patience import waiting_at_most
from frepo_core.domain.identity import Identity
from frepo_core.domain.structs import struct
from frepo_core.errors import AccessDeniedError, ConfigurationError, FrepoError
from frepo_core.plugins import HealthCheck, PluginContext
from frepo_core.plugins.discovery import describe_core
from frepo_core.plugins.registry import Owned, make_contexts

from ...access.visibility.job_output import HIDDEN_OUTPUT, HIDDEN_PROBLEMS, sees_output
from ...base.plugin_failures import call_with_context
from ...events.masking import Mask
from ...foundation import Foundation
from ...upkeep.engine.job_reports import JobReport
from ..figures import Figures
from .core_checks import PROBLEMS, CoreChecks

_UNKNOWN = "Not known, because the database does not work"


log = logging.getLogger(__name__)


class HealthChecks:
    """Runs checks; `origins` are their names for the log. Each has at most one thread, however often it is requested.

    `mask` masks the secrets in what the checks say.

    A check that exceeds its deadline is reported as hanging. It is not started again before it has returned.
    """

    def __init__(self, checks: Iterable[HealthCheck], mask: Mask, origins: Mapping[str, str] | None = None) -> None:
        self._checks = tuple(checks)
        self._mask = mask
        self._origins = origins or {}
        self._runs: dict[str, _Run] = {}
        self._lock = threading.Lock()

    def run(self, *, is_logged: bool = True) -> dict[str, tuple[str, ...]]:
        """Run all checks at the same time; return their messages by the name of the check. No message: it works.

        Returns when all have returned or have exceeded their deadlines. Calls at the same time share the runs. A
        command that prints the messages itself does not want them in its log, too.
        """
        runs = [self._start(check, is_logged) for check in self._checks]
        return {run.check.name: run.wait() for run in runs}

    def _start(self, check: HealthCheck, is_logged: bool) -> "_Run":
        """Return the run of this check that has not ended yet, or start one."""
        with self._lock:
            run = self._runs.get(check.name)
            if run is None or run.has_ended:
                origin = self._origins.get(check.name, check.name)
                run = self._runs[check.name] = _Run(check, self._mask, origin, is_logged)
            return run


class _Run:
    """One run of a check. Its thread is a daemon: a check that hangs does not keep the process from ending."""

    def __init__(self, check: HealthCheck, mask: Mask, origin: str, is_logged: bool) -> None:
        self.check = check
        self._level = logging.ERROR if is_logged else logging.DEBUG
        self._mask = mask
        self._origin = origin
        self._started = time.monotonic()
        self._ended = threading.Event()
        self._messages: tuple[str, ...] = ()
        threading.Thread(target=self._work, name=f"health check {check.name}", daemon=True).start()

    @property
    def has_ended(self) -> bool:
        return self._ended.is_set()

    def wait(self) -> tuple[str, ...]:
        """Return what the check found, or that it hangs when its deadline is exceeded."""
        if self._ended.wait(self._started + self.check.deadline - time.monotonic()):
            return self._messages
        seconds = time.monotonic() - self._started
        message = f"The check hangs: it has been running for {seconds:.0f} s, its deadline is {self.check.deadline:g} s"
        log.log(self._level, "health check %s: %s", self._origin, message)
        return (message,)

    def _work(self) -> None:
        try:
            with waiting_at_most(self.check.deadline):
                self.check.run()
        except FrepoError as error:
            self._messages = (self._mask(error.message),)
            log.log(self._level, "health check %s: %s", self._origin, self._messages[0])
        except BaseException as error:  # noqa: BLE001  # a check of a plug-in may raise anything, SystemExit included
            self._messages = (self._mask.describe(error),)
            text = self._mask("".join(traceback.format_exception(error)))
            log.log(self._level, "health check %s failed: %s", self._origin, text)
        finally:
            self._ended.set()


@struct
class HealthReport:
    """The problems that were found, as messages; all are empty if everything works.

    `plugins` are those of the health checks of plug-ins, and of the problems that they report, by the check's name.
    `reports` are about all jobs.
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
        self._plugin_names = (PROBLEMS, *others)
        self._checks = HealthChecks(checks, base.mask, origins)

    def report(self, code: str) -> HealthReport:
        """Run all checks. Raises `AccessDeniedError` for a wrong code, and always if no code is set."""
        if not self._code or not hmac.compare_digest(self._code.encode(), code.encode()):
            raise AccessDeniedError("No access: the parameter code must be the value of HEALTH_CHECK_CODE")
        found = self.run()
        database, storage, worker, jobs = (found[name] for name in ("database", "storage", "worker", "jobs"))
        if database:  # the checks that read the database only repeat that
            worker = jobs = found[PROBLEMS] = (_UNKNOWN,)
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
        for name, hidden in (("jobs", HIDDEN_OUTPUT), (PROBLEMS, HIDDEN_PROBLEMS)):
            if found[name] and not sees_output(by):
                found[name] = (hidden,)
        return found


def _bound(owned: Owned[HealthCheck], context: PluginContext) -> HealthCheck:
    """Return the check with its context bound, if its function takes one."""
    return replace(owned.spec, run=partial(call_with_context, owned.spec.run, context))
