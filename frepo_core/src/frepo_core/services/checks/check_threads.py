"""Runs a check in a thread with a deadline, so that one that hangs keeps no thread of the server."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

Result = TypeVar("Result")

# So many runs of one check may hang before it is not started any more.
MAX_HANGING = 4


class CheckHangs(Exception):
    """The check has no result in time. The message says why, for the log and for the version."""


class CheckThreads:
    """The threads of one check. Any number of runs may be in time; at most a few may hang.

    The number of threads is bounded: those that requests wait for, and those that hang. They are daemons: a check that
    hangs does not keep the process from ending.
    """

    def __init__(self, name: str, deadline: float) -> None:
        """`deadline` is in seconds, for each run."""
        self._name = name
        self._deadline = deadline
        self._hanging = 0
        self._lock = threading.Lock()

    def call(self, function: Callable[[], Result]) -> Result:
        """Return or raise what the function does.

        Raises `CheckHangs` after the deadline, and at once while too many earlier runs hang.
        """
        if self._hanging >= MAX_HANGING:
            raise CheckHangs(f"The check was not run, because {self._hanging} earlier runs of it have not returned")
        run = Future[Result]()
        threading.Thread(target=_work, args=(function, run), name=f"upload check {self._name}", daemon=True).start()
        wait([run], self._deadline)
        if not run.done():
            self._count(1)
            run.add_done_callback(lambda run: self._count(-1))
            raise CheckHangs(f"The check did not return within {self._deadline:g} seconds")
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
