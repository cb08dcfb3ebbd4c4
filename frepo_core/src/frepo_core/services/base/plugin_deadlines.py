"""Runs functions of a plug-in in threads with a deadline, so that one that hangs keeps no thread of the server."""

import contextlib
import os
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeAlias, TypeVar

Result = TypeVar("Result")
# The name of the thread, and what it does.
_Task: TypeAlias = tuple[str, Callable[[], None]]

# So many runs of one function may hang before it is not called any more.
MAX_HANGING = 4
# How long a thread without a task is kept. Starting one costs a tenth of a small upload.
KEPT_SECONDS = 10.0

# The tasks of each idle thread. The last one is taken first.
_idle: list[SimpleQueue[_Task]] = []
os.register_at_fork(after_in_child=_idle.clear)


class PluginHangs(Exception):
    """There is no result in time. The message says why, without a subject."""


class PluginNotRunError(PluginHangs):
    """The function was not run."""


class PluginThreads:
    """The threads of one function of a plug-in. Any number of runs may be in time; at most a few may hang.

    The number of threads is bounded: those that requests wait for, and those that hang. They are daemons: a run that
    hangs does not keep the process from ending.
    """

    def __init__(self, name: str, deadline: float) -> None:
        """`name` is that of the threads. `deadline` is in seconds, for each run."""
        self._name = name
        self._deadline = deadline
        self._hanging = 0
        self._lock = threading.Lock()

    def call(
        self, function: Callable[[], Result], *, is_excused: Callable[[], bool] = lambda: False, seconds: float = 0.0
    ) -> Result:
        """Return or raise what the function does.

        While `is_excused()` is true at the deadline, such as for a function that waits for the database, it gets the
        same time again. `seconds` is another deadline for this run. Raises `PluginHangs` after the deadline, and
        `PluginNotRunError` at once while too many earlier runs hang.
        """
        if self._hanging >= MAX_HANGING:
            raise PluginNotRunError(f"was not run, because {self._hanging} earlier runs of it have not returned")
        run = _Run(function)
        _start(self._name, partial(copy_context().run, self._work, run))
        deadline = seconds or self._deadline
        while not run.has_ended(deadline):
            if not is_excused():
                self._give_up(run, deadline)
        return run.result()

    def _work(self, run: "_Run[Any]") -> None:
        run.work()
        with self._lock:
            self._hanging -= run.is_given_up
            run.ended.put(None)

    def _give_up(self, run: "_Run[Any]", deadline: float) -> None:
        with self._lock:
            if run.ended.empty():
                self._hanging += 1
                run.is_given_up = True
                raise PluginHangs(f"did not return within {deadline:g} seconds")


class _Run(Generic[Result]):
    """One run of a function. `ended` gets an entry at its end."""

    def __init__(self, function: Callable[[], Result]) -> None:
        self._function = function
        self._result: Result
        self._error: BaseException | None = None
        self.is_given_up = False
        self.ended: SimpleQueue[None] = SimpleQueue()

    def work(self) -> None:
        try:
            self._result = self._function()
        except BaseException as error:  # noqa: BLE001  # raised in the thread of the request, if it still waits
            self._error = error

    def has_ended(self, seconds: float) -> bool:
        """Wait for the end of the run for some seconds at most."""
        with contextlib.suppress(Empty):
            self.ended.get(timeout=seconds)
            return True
        return False

    def result(self) -> Result:
        try:
            if self._error is not None:
                raise self._error
            return self._result
        finally:
            self._error = None  # its traceback refers to this run


def _start(name: str, work: Callable[[], None]) -> None:
    """Run `work` in an idle thread, or in a new one."""
    try:
        tasks = _idle.pop()
    except IndexError:
        tasks = SimpleQueue()
        threading.Thread(target=_run_tasks, args=(tasks,), name=name, daemon=True).start()
    tasks.put((name, work))


def _run_tasks(tasks: SimpleQueue[_Task]) -> None:
    """Run the tasks of one thread, until it had none for a while."""
    while True:
        try:
            name, work = tasks.get(timeout=KEPT_SECONDS)
        except Empty:
            with contextlib.suppress(ValueError):  # somebody has just taken it, and gives it a task
                _idle.remove(tasks)
                return
            continue
        threading.current_thread().name = name
        work()
        del work  # and the content that it holds
        _idle.append(tasks)
