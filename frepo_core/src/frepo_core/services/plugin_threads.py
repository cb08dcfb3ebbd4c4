"""Runs functions of a plug-in in threads with a deadline, so that one that hangs keeps no thread of the server."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from functools import partial
from typing import TypeVar

Result = TypeVar("Result")

# So many runs of one function may hang before it is not called any more.
MAX_HANGING = 4


class PluginHangs(Exception):
    """There is no result in time. The message says why, without a subject."""


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
        same time again. `seconds` is another deadline for this run. Raises `PluginHangs` after the deadline, and at
        once while too many earlier runs hang.
        """
        if self._hanging >= MAX_HANGING:
            raise PluginHangs(f"was not run, because {self._hanging} earlier runs of it have not returned")
        run = Future[Result]()
        work = partial(copy_context().run, _work, function, run)
        threading.Thread(target=work, name=self._name, daemon=True).start()
        deadline = seconds or self._deadline
        wait([run], deadline)
        while not run.done() and is_excused():
            wait([run], deadline)
        if not run.done():
            self._count(1)
            run.add_done_callback(lambda run: self._count(-1))
            raise PluginHangs(f"did not return within {deadline:g} seconds")
        return run.result()

    def _count(self, change: int) -> None:
        with self._lock:
            self._hanging += change


def _work(function: Callable[[], Result], run: Future[Result]) -> None:
    try:
        result = function()
    except BaseException as error:  # noqa: BLE001  # raised in the thread of the request, if it still waits
        run.set_exception(error)
    else:
        run.set_result(result)
