"""Worker threads that run short requests one after the other, which is faster than all at once."""

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from waitress.task import ThreadedTaskDispatcher

from .periodic_warning import PeriodicWarning

SHORT_SECONDS = 1e-3
# How many threads may wait for slow clients next to those that run requests.
MAX_LENT = 64
WARNING = (
    "Task queue depth is %(about)d: all threads are busy. "
    "Since the last such line %(count)d tasks waited, up to %(largest)d at once"
)


def _is_heavy(task: Any) -> bool:
    return getattr(task, "is_heavy", False)


class TaskDispatcher(ThreadedTaskDispatcher):  # type: ignore[misc]  # waitress has no types
    """Starts a task when the one before has ended, or was started `short` seconds ago: it may wait for something.

    Threads that compute at the same time take the interpreter's lock from each other at each system call: small
    downloads would reach 0.68 to 0.75 of their rate. The thread that reads sockets calls `start_waiting` for the queued
    tasks, and is woken by `wake` if a thread becomes idle that may take one a moment later.

    Tasks with a body (`is_heavy`) leave one thread to the others, and take turns with them. So a small request waits
    for a few uploads, not for all of them.

    The thread that became idle last gets the next task: its memory is still in the processor's caches. waitress wakes
    the one that was idle longest.

    A thread whose client is slower than what produces its answer is lent: another one runs requests in its place, until
    the answer is sent. Otherwise a few slow clients would keep all threads.
    """

    def __init__(self, short: float = SHORT_SECONDS) -> None:
        super().__init__()
        self.wake: Callable[[], object] = lambda: None
        self._short = short
        # The thread of the task that was started last, while it runs, and when that was.
        self._last: int | None = None
        self._started = 0.0
        self._idle: list[tuple[int, SimpleQueue[Any]]] = []
        self._warning = PeriodicWarning(self.queue_logger, WARNING)
        # How many threads run requests, the threads that are lent, and the lock of both.
        self._count = 0
        self._was_heavy = False
        self._lent: set[int] = set()
        self._counting = threading.Lock()

    @property
    def count(self) -> int:
        """How many threads there are."""
        return len(self.threads)

    @property
    def idle(self) -> int:
        """How many threads have no task."""
        return len(self._idle)

    @property
    def queued(self) -> int:
        """How many tasks wait for a thread."""
        return len(self.queue)

    def add_task(self, task: Any) -> None:
        """Queue a task, and start it if it need not wait."""
        with self.lock:
            self.queue.append(task)
            self._start_task()
            if len(self.queue) > len(self._idle):
                depth = len(self.queue) - len(self._idle)
                self._warning.note(depth, depth)

    def start_waiting(self) -> float | None:
        """Start a task that has waited long enough. Return after how many seconds the next one may start.

        None: no task waits that a thread may take then.
        """
        if not self.queue:
            return None
        with self.lock:
            self._start_task()
            return self._short if self._may_start_soon() else None

    def set_thread_count(self, count: int) -> None:
        """Start or end threads until `count` run requests."""
        with self._counting:
            self._count = count
            self._start_or_end_threads()

    def lend(self) -> bool:
        """Start a thread in place of this one until its task ends. Return False if `MAX_LENT` are lent already."""
        thread = threading.get_ident()
        with self._counting:
            if thread not in self._lent:
                if len(self._lent) >= MAX_LENT:
                    return False
                self._lent.add(thread)
                self._start_or_end_threads()
        return True

    @property
    def lent_count(self) -> int:
        """How many threads are lent."""
        return len(self._lent)

    def _take_back(self) -> None:
        """Count this thread as before, after its task."""
        if threading.get_ident() in self._lent:
            with self._counting:
                self._lent.discard(threading.get_ident())
                self._start_or_end_threads()

    def _start_or_end_threads(self) -> None:
        super().set_thread_count(self._count + len(self._lent) if self._count else 0)
        with self.lock:
            while self.stop_count and self._idle:
                thread_no, box = self._idle.pop()
                self._count_end(thread_no)
                box.put(None)

    def handler_thread(self, thread_no: int) -> None:
        """Run tasks in the order of the queue until the thread has to end."""
        box: SimpleQueue[Any] = SimpleQueue()
        while task := self._next(thread_no, box):
            try:
                task.service()
            except BaseException:
                self.logger.exception("Exception when servicing %r", task)
            self._take_back()

    def _next(self, thread_no: int, box: "SimpleQueue[Any]") -> Any:
        """Wait for the next task of a thread. Return None if it has to end."""
        with self.lock:
            if self._last == thread_no:
                self._last = None
            if self.stop_count:
                self._count_end(thread_no)
                return None
            self._idle.append((thread_no, box))
            self._start_task()
            must_wake = self._may_start_soon()
        if must_wake:
            self.wake()
        return box.get()

    def _count_end(self, thread_no: int) -> None:
        self.stop_count -= 1
        self.threads.discard(thread_no)
        self.thread_exit_cv.notify()

    def _start_task(self) -> None:
        if not self.queue or not self._idle or self._is_last_new():
            return
        position = self._choose()
        if position is None:
            return
        task = self.queue[position]
        del self.queue[position]
        self._was_heavy = _is_heavy(task)
        thread_no, box = self._idle.pop()
        self._last, self._started = thread_no, time.monotonic()
        box.put(task)

    def _choose(self) -> int | None:
        """Return the place in the queue of the task that starts next, None if none may start."""
        is_last = len(self._idle) == 1 < self._count
        if not _is_heavy(self.queue[0]) or not (is_last or self._was_heavy):
            return 0
        light = next((place for place, task in enumerate(self.queue) if not _is_heavy(task)), None)
        return 0 if light is None and not is_last else light

    def _may_start_soon(self) -> bool:
        """Return whether only the time since the last start keeps a task from an idle thread."""
        return bool(self.queue and self._idle) and self._choose() is not None

    def _is_last_new(self) -> bool:
        """Return whether the last task runs, and was started less than `short` seconds ago."""
        return self._last is not None and time.monotonic() - self._started < self._short
