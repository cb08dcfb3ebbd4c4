"""Runs health checks, each in a thread of its own, with a deadline."""

import logging
import threading
import time
import traceback
from collections.abc import Iterable, Mapping

from frepo_core.db.waiting.patience import waiting_at_most
from frepo_core.errors import FrepoError
from frepo_core.plugins import HealthCheck

from ...events.masking import Mask

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
