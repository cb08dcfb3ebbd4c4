"""Workers that take turns: requests that take a millisecond are done sooner one after the other than all at once."""

import time
from typing import Any

from waitress.task import ThreadedTaskDispatcher

SHORT_SECONDS = 2e-3


class TaskDispatcher(ThreadedTaskDispatcher):  # type: ignore[misc]  # waitress has no types
    """Begins a task when no other has begun within `short` seconds and not ended: nobody waits longer than that.

    Threads that compute at the same time take the interpreter's lock from each other at every call into the system,
    which costs more than all that a small request needs. Who waits for a database, a storage or a client is soon let be.
    """

    def __init__(self, short: float = SHORT_SECONDS) -> None:
        super().__init__()
        self._short = short
        self._begun: dict[int, float] = {}
        self._has_watcher = False

    def add_task(self, task: Any) -> None:
        """Queue a task, and wake a thread, unless one will look at the queue by itself, in time."""
        with self.lock:
            self.queue.append(task)
            if not self._has_watcher or self._may_begin():
                self.queue_cv.notify()
            idle = len(self.threads) - self.stop_count - self.active_count
            if len(self.queue) > idle:
                self.queue_logger.warning("Task queue depth is %d", len(self.queue) - idle)

    def handler_thread(self, thread_no: int) -> None:
        """Do tasks, in the order in which they came, until the thread is to end."""
        while task := self._next(thread_no):
            try:
                task.service()
            except BaseException:
                self.logger.exception("Exception when servicing %r", task)

    def _next(self, thread_no: int) -> Any:
        """Wait for a task that may begin; None for the end of the thread."""
        with self.lock:
            self._begun.pop(thread_no, None)
            self.active_count -= 1
            while not self.stop_count and not (self.queue and self._may_begin()):
                self._wait()
            task = None if self.stop_count else self.queue.popleft()
            if task:
                self._begun[thread_no] = time.monotonic()
                self.active_count += 1
            else:
                self.stop_count -= 1
                self.threads.discard(thread_no)
                self.thread_exit_cv.notify()
            if self.queue and not self._has_watcher:
                self.queue_cv.notify()
            return task

    def _wait(self) -> None:
        """Wait to be woken; where something is queued, one thread looks again when what has begun is no longer short."""
        if not self.queue or self._has_watcher:
            self.queue_cv.wait()
            return
        self._has_watcher = True
        self.queue_cv.wait(self._short)
        self._has_watcher = False

    def _may_begin(self) -> bool:
        now = time.monotonic()
        return all(now - begun >= self._short for begun in self._begun.values())
