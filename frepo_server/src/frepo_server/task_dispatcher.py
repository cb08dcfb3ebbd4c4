"""Worker threads that run short requests one after the other, which is faster than all at once."""

import time
from typing import Any

from waitress.task import ThreadedTaskDispatcher

SHORT_SECONDS = 2e-3


class TaskDispatcher(ThreadedTaskDispatcher):  # type: ignore[misc]  # waitress has no types
    """Starts a task if no running task was started within the last `short` seconds. No task waits longer.

    Threads that compute at the same time take the interpreter's lock from each other at each system call, which costs
    more than a small request. A task that waits for a database, a storage or a client delays the others only briefly.
    """

    def __init__(self, short: float = SHORT_SECONDS) -> None:
        super().__init__()
        self._short = short
        self._started: dict[int, float] = {}
        self._has_watcher = False

    def add_task(self, task: Any) -> None:
        """Queue a task, and wake a thread, unless a thread will check the queue in time."""
        with self.lock:
            self.queue.append(task)
            if not self._has_watcher or self._may_start():
                self.queue_cv.notify()
            idle = len(self.threads) - self.stop_count - self.active_count
            if len(self.queue) > idle:
                self.queue_logger.warning("Task queue depth is %d", len(self.queue) - idle)

    def handler_thread(self, thread_no: int) -> None:
        """Run tasks in the order of the queue until the thread has to end."""
        while task := self._next(thread_no):
            try:
                task.service()
            except BaseException:
                self.logger.exception("Exception when servicing %r", task)

    def _next(self, thread_no: int) -> Any:
        """Wait for a task that may start. Return None if the thread has to end."""
        with self.lock:
            self._started.pop(thread_no, None)
            self.active_count -= 1
            while not self.stop_count and not (self.queue and self._may_start()):
                self._wait()
            task = None if self.stop_count else self.queue.popleft()
            if task:
                self._started[thread_no] = time.monotonic()
                self.active_count += 1
            else:
                self.stop_count -= 1
                self.threads.discard(thread_no)
                self.thread_exit_cv.notify()
            if self.queue and not self._has_watcher:
                self.queue_cv.notify()
            return task

    def _wait(self) -> None:
        """Wait for a notification. If tasks are queued, one thread checks again after `short` seconds."""
        if not self.queue or self._has_watcher:
            self.queue_cv.wait()
            return
        self._has_watcher = True
        self.queue_cv.wait(self._short)
        self._has_watcher = False

    def _may_start(self) -> bool:
        now = time.monotonic()
        return all(now - started >= self._short for started in self._started.values())
