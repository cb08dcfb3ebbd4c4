"""The worker: takes part in the election of a leader, and does the leader's work in threads of its own."""

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol, get_args

from sqlalchemy.exc import IntegrityError

from frepo_core.db import Database
from frepo_core.errors import FrepoError
from frepo_core.plugins import LeaseLost, PluginContext, Subscriber
from frepo_core.plugins.job import Lane as LaneName

from ...base.lease import LEADER, Lease, LeaseTerms, make_holder
from ...base.log_records import is_outage
from ...events.delivery import Delivery
from ...events.masking import Mask
from ...events.numbering import Numbering
from ...events.subscriptions import create_subscriptions
from .job_catalog import ScheduledJob
from .job_runner import JobRunner
from .lane import Lane, lease_name

log = logging.getLogger(__name__)

LANES = get_args(LaneName)
STOP_SECONDS = 5.0
ERROR_SECONDS = 5.0
OUTAGE_SECONDS = 60.0


class Signal:
    """Wakes threads. A thread takes a `ticket`, looks for work, and then waits for a signal after the ticket."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self.ticket = 0

    def fire(self) -> None:
        """Wake all threads that wait."""
        with self._condition:
            self.ticket += 1
            self._condition.notify_all()

    def wait(self, ticket: int, seconds: float | None) -> None:
        """Wait for a signal after the ticket, at most `seconds` (None: without end)."""
        with self._condition:
            self._condition.wait_for(lambda: self.ticket != ticket, seconds)


class Leadership:
    """The epoch under which this process leads, 0 if it does not.

    `is_certain` says whether the lease is held for certain; a process that was frozen for longer than its lease does
    not lead, although it has not noticed yet. Signals: `changed` when the leadership begins or ends, `committed` after
    a commit of this process, `numbered` when there are new events to deliver.
    """

    def __init__(self, is_certain: Callable[[], bool]) -> None:
        self._is_certain = is_certain
        self._epoch = 0
        self.is_stopping = False
        self.changed, self.committed, self.numbered = Signal(), Signal(), Signal()

    @property
    def epoch(self) -> int:
        """The epoch under which this process leads now, else 0."""
        return self._epoch if self._epoch and not self.is_stopping and self._is_certain() else 0

    @property
    def was_elected(self) -> bool:
        """Whether this process was elected and has not stepped down, even if its lease is uncertain now."""
        return self._epoch > 0

    def begin(self, epoch: int) -> None:
        """Lead from now on."""
        self._epoch = epoch
        self._fire_all()

    def end(self) -> None:
        """Lead no longer."""
        self._epoch = 0
        self._fire_all()

    def stop(self) -> None:
        """Lead no longer, and end all threads that wait."""
        self.is_stopping = True
        self._fire_all()

    def wait_for_term(self) -> int:
        """Wait until this process leads, and return the epoch. Return 0 if the worker stops."""
        while not self.is_stopping:
            ticket = self.changed.ticket
            if epoch := self.epoch:
                return epoch
            # With a limit: a lease that was uncertain becomes certain again by a renewal, without a signal.
            self.changed.wait(ticket, 1.0 if self._epoch else None)
        return 0

    def _fire_all(self) -> None:
        for signal in (self.changed, self.committed, self.numbered):
            signal.fire()


class Task(Protocol):
    """Work of the leader. `step` is called repeatedly with the epoch; it returns the seconds until the next call."""

    def step(self, epoch: int) -> float:
        """Do the work that is due."""

    def finish(self) -> None:
        """Store what is left, before another worker leads."""


class Worker:
    """One worker of this process. `start` starts its threads, which are daemons; `stop` ends them."""

    def __init__(
        self,
        database: Database,
        *,
        jobs: Mapping[str, ScheduledJob],
        subscribers: Mapping[str, tuple[Subscriber, PluginContext]],
        mask: Mask,
        terms: LeaseTerms,
    ) -> None:
        self._database = database
        self._terms = terms
        self.holder = make_holder()
        self._lease = self._make_lease(LEADER)
        self.leadership = Leadership(lambda: self._lease.is_held)
        self._subscribers = tuple(subscribers)
        self._has_subscriptions = False
        self._wants_stop = threading.Event()
        self._outage_lock = threading.Lock()
        self._outage_logged_at = -math.inf
        self._threads: list[threading.Thread] = []
        runner = JobRunner(database, mask, self._wants_stop.is_set)
        self._tasks: list[tuple[str, Task, Signal]] = [
            ("numbering", Numbering(database, self.leadership.numbered.fire), self.leadership.committed)
        ]
        for name in LANES:
            lane = Lane(database, name, jobs, lease=self._make_lease(lease_name(name)), runner=runner)
            self._tasks.append((f"lane {name}", lane, self.leadership.changed))
        self.deliveries: list[Delivery] = []
        for name, (subscriber, context) in subscribers.items():
            delivery = Delivery(database, subscriber, context, mask=mask, current_epoch=lambda: self.leadership.epoch)
            self.deliveries.append(delivery)
            self._tasks.append((f"subscriber {name}", delivery, self.leadership.numbered))

    @property
    def is_leading(self) -> bool:
        """Whether this process leads now."""
        return self.leadership.epoch > 0

    def start(self) -> None:
        """Start the worker in threads of its own, once. The database need not answer yet."""
        if self._threads:
            return
        self._database.on_commit = self.leadership.committed.fire
        self._start_thread("worker", self._elect)

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """End the worker: another one can lead at once. Wait at most `seconds` for jobs and subscribers.

        What does not end in time is repeated by the next leader.
        """
        if not self._threads:
            return
        deadline = time.monotonic() + seconds
        self._database.on_commit = None
        self._wants_stop.set()
        self.leadership.stop()
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if left := [thread.name for thread in self._threads if thread.is_alive()]:
            log.warning("the worker stops without waiting longer for: %s", ", ".join(left))
        try:
            self._lease.release()
        except FrepoError as error:
            log.warning("the worker cannot release its lease, another one leads when it is over: %s", error.message)

    def _elect(self) -> None:
        """Get the lease, renew it, or wait for it, until the worker stops."""
        while not self._wants_stop.is_set():
            try:
                pause = self._renew() if self.leadership.epoch else self._stand()
            except Exception as error:  # noqa: BLE001  # the worker must survive everything
                self._log_error("the worker cannot use its lease", error)
                pause = self._terms.length / 15
            if not self._lease.is_held:
                self._step_down()
            self._wants_stop.wait(pause)

    def _renew(self) -> float:
        self._lease.renew()
        return self._terms.renewal

    def _stand(self) -> float:
        """Try to become the leader; return the seconds until the next try."""
        self._step_down()
        if not self._has_subscriptions:
            create_subscriptions(self._database, self._subscribers)
            self._has_subscriptions = True
        if not self._lease.try_acquire():
            return self._terms.poll
        log.info("this worker leads now (epoch %d, %s)", self._lease.epoch, self.holder)
        self.leadership.begin(self._lease.epoch)
        self._start_tasks()
        return self._terms.renewal

    def _step_down(self) -> None:
        if self.leadership.was_elected:
            log.warning("this worker leads no longer: it could not renew its lease in time (%s)", self.holder)
            self.leadership.end()

    def _start_tasks(self) -> None:
        """Start a thread for each task, once. A thread that hangs in a plug-in takes part again when it returns."""
        if len(self._threads) == 1:
            for name, task, signal in self._tasks:
                self._start_thread(name, partial(self._repeat, task, signal))

    def _repeat(self, task: Task, signal: Signal) -> None:
        """Do a task while this process leads, until the worker stops."""
        while epoch := self.leadership.wait_for_term():
            ticket = signal.ticket
            pause = self._attempt(lambda: task.step(epoch))
            if pause > 0:
                signal.wait(ticket, pause)
            if self.leadership.epoch != epoch:
                self._attempt(task.finish)
        self._attempt(task.finish)

    def _attempt(self, work: Callable[[], float | None]) -> float:
        """Do work that may fail; return the seconds that it returns, or those after an error."""
        try:
            return work() or 0.0
        except LeaseLost:
            log.warning("%s: another worker leads now", threading.current_thread().name)
            return 1.0
        except IntegrityError:
            return 1.0  # another worker numbers events at the same moment
        except Exception as error:  # noqa: BLE001  # it is logged, and the work is tried again
            self._log_error(
                threading.current_thread().name, error, exc_info=None if isinstance(error, FrepoError) else error
            )
            return ERROR_SECONDS

    def _log_error(self, what: str, error: Exception, exc_info: Exception | None = None) -> None:
        """Log an error; of outages, which all threads meet again and again, one a minute."""
        if is_outage(error):
            with self._outage_lock:
                if time.monotonic() < self._outage_logged_at + OUTAGE_SECONDS:
                    return
                self._outage_logged_at = time.monotonic()
        log.warning("%s: %s", what, _describe(error), exc_info=exc_info)

    def _start_thread(self, name: str, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, name=f"frepo {name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _make_lease(self, name: str) -> Lease:
        return Lease(self._database, name, holder=self.holder, terms=self._terms)


def _describe(error: Exception) -> str:
    return error.message if isinstance(error, FrepoError) else f"{type(error).__name__}: {error}"
