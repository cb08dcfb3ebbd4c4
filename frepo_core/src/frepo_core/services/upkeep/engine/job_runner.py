"""Runs one job: renews the lease of its lane meanwhile, and records how it ended."""

import contextlib
import json
import logging
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from frepo_core.db import Database
from frepo_core.domain.structs import struct
from frepo_core.errors import DatabaseUnavailableError, FrepoError, PluginError
from frepo_core.plugins import JobContext, LeaseLost
from frepo_core.plugins.hang_watch import HangWatch

from ...base.lease import Lease
from ...events.masking import Mask
from .job_catalog import ScheduledJob
from .job_runs import Outcome, end_run, note_progress

log = logging.getLogger(__name__)

CHECK_SECONDS = 1.0
PROGRESS_SECONDS = 5.0
# Seconds between the tries to record the end of a run while the database does not answer.
END_PAUSES = (1, 5, 15)


@struct
class RunResult:
    """How a job ended, with its summary or its error. Secrets are masked in both."""

    outcome: Outcome
    summary: dict[str, Any] | None = None
    error: str | None = None


class JobRunner:
    """Runs jobs in the thread that calls it; the caller has acquired the lease of the lane, and releases it."""

    def __init__(self, database: Database, mask: Mask, is_stopping: Callable[[], bool] = lambda: False) -> None:
        """`is_stopping` says whether the process stops; then jobs are interrupted at their next check of the lease."""
        self._database = database
        self._mask = mask
        self._is_stopping = is_stopping

    def run(self, scheduled: ScheduledJob, lease: Lease, run_id: int, now: datetime) -> RunResult:
        """Run the job and record how it ended. Exceptions of the job are in the result."""
        log.debug("the job %s starts", scheduled.name)
        with _renewed(lease):
            try:
                with HangWatch(f"the job {scheduled.name}", scheduled.context.log) as hang_watch:
                    context = self._make_context(scheduled, lease, run_id, now, hang_watch)
                    result = self._call(scheduled, context)
            except KeyboardInterrupt:
                self._end(scheduled, run_id, RunResult(outcome=Outcome.INTERRUPTED, error="interrupted by its user"))
                raise
            self._end(scheduled, run_id, result)
        return result

    def _call(self, scheduled: ScheduledJob, context: JobContext) -> RunResult:
        try:
            summary = _as_json(scheduled.job.run(context))
            return RunResult(outcome=Outcome.GOOD, summary=self._mask.data(summary))
        except LeaseLost as error:
            if self._is_stopping():
                return RunResult(outcome=Outcome.INTERRUPTED, error="the process stopped")
            return RunResult(outcome=Outcome.LOST, error=str(error))
        except KeyboardInterrupt:
            if threading.current_thread() is threading.main_thread():
                raise
            return RunResult(outcome=Outcome.FAILED, error="KeyboardInterrupt")
        except FrepoError as error:
            return RunResult(outcome=Outcome.FAILED, error=self._mask(error.message))
        except BaseException as error:  # noqa: BLE001  # a plug-in may raise anything, SystemExit included
            scheduled.context.log.info("%s", self._mask("".join(traceback.format_exception(error))))
            return RunResult(outcome=Outcome.FAILED, error=self._mask.describe(error))

    def _end(self, scheduled: ScheduledJob, run_id: int, result: RunResult) -> None:
        """Record the end. If the database does not answer for long, the next run of the lane records a lost run."""
        for pause in (*END_PAUSES, 0):
            try:
                end_run(
                    self._database,
                    run_id,
                    result.outcome,
                    now=self._database.now(),
                    summary=result.summary,
                    error=result.error,
                )
                break
            except DatabaseUnavailableError:
                if not pause:
                    raise
                time.sleep(pause)
        if result.outcome is Outcome.GOOD:
            level = logging.INFO if scheduled.job.lane == "long" else logging.DEBUG  # short ones may run each minute
            scheduled.context.log.log(level, "the job %s is done: %s", scheduled.name, json.dumps(result.summary))
        else:
            scheduled.context.log.warning("the job %s ended as %s: %s", scheduled.name, result.outcome, result.error)

    def _make_context(
        self, scheduled: ScheduledJob, lease: Lease, run_id: int, now: datetime, hang_watch: HangWatch
    ) -> JobContext:
        watch = _LeaseWatch(lease, self._is_stopping, hang_watch)
        progress = _Progress(self._database, run_id, self._mask)
        return JobContext(
            settings=scheduled.context.settings,
            service=scheduled.context.service,
            log=scheduled.context.log,
            now=now,
            check_lease=watch.keep_going,
            progress=progress.note,
        )


def _as_json(summary: Any) -> dict[str, Any]:
    """Return the summary of a job as it is stored. Raises `PluginError` if it is not a mapping of JSON values."""
    if summary is not None and not isinstance(summary, Mapping):
        raise PluginError(f"run() returned {summary!r}, which is neither a mapping nor None")
    try:
        stored: dict[str, Any] = json.loads(json.dumps(dict(summary or {}), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise PluginError(f"run() returned {summary!r}, which cannot be stored as JSON: {error}") from None
    return stored


class _LeaseWatch:
    """Raises `LeaseLost` when a job must not go on."""

    def __init__(self, lease: Lease, is_stopping: Callable[[], bool], hang_watch: HangWatch) -> None:
        self._lease = lease
        self._hang_watch = hang_watch
        self._epoch = lease.epoch
        self._is_stopping = is_stopping
        self._checked_at = time.monotonic()

    def keep_going(self) -> None:
        """Raise `LeaseLost` if the process stops, or if another one has the lease. Asks the database once a second."""
        self._hang_watch.touch()
        if self._is_stopping():
            raise LeaseLost("the process stops")
        if not self._lease.is_held:
            raise LeaseLost(f"the lease {self._lease.name} was not renewed in time")
        if time.monotonic() >= self._checked_at + CHECK_SECONDS:
            if self._lease.find_epoch() != self._epoch:
                raise LeaseLost(f"another process has the lease {self._lease.name}")
            self._checked_at = time.monotonic()


class _Progress:
    """Stores the latest text about a run, every few seconds."""

    def __init__(self, database: Database, run_id: int, mask: Mask) -> None:
        self._database = database
        self._run_id = run_id
        self._mask = mask
        self._stored_at = 0.0

    def note(self, text: str) -> None:
        """Store the text, unless one was stored a moment ago. Never raises for a database that does not answer."""
        if time.monotonic() >= self._stored_at + PROGRESS_SECONDS:
            self._stored_at = time.monotonic()
            with contextlib.suppress(FrepoError):
                note_progress(self._database, self._run_id, self._mask(text))


@contextlib.contextmanager
def _renewed(lease: Lease) -> Iterator[None]:
    """Renew the lease in a thread of its own while the body of the `with` statement runs."""
    ended = threading.Event()

    def renew() -> None:
        pause, is_failing = lease.terms.renewal, False
        while not ended.wait(pause):
            try:
                if not lease.renew():
                    return
                pause, is_failing = lease.terms.renewal, False
            except Exception as error:  # noqa: BLE001  # tried again, until the lease is over
                if not is_failing:  # the first in a row
                    log.warning("the lease %s cannot be renewed: %s", lease.name, error)
                pause, is_failing = lease.terms.renewal / 5, True

    thread = threading.Thread(target=renew, name=f"frepo {lease.name}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
