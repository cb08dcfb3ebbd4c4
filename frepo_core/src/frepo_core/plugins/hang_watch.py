"""Logs which call of a plug-in does not return: otherwise a service that hangs gives no reason."""

import logging
import math
import os
import threading
import time
from types import TracebackType
from typing import Self

SECONDS = 10.0


class HangWatch:
    """Watches the body of a `with` statement: warns about it after ten seconds, and once more when it has ended."""

    def __init__(self, what: str, log: logging.Logger) -> None:
        """`what` names the function and the package, as the subject of a sentence."""
        self._what = what
        self._log = log
        self._started = time.monotonic()
        self.due = self._started + SECONDS
        self._is_named = False

    def touch(self) -> None:
        """Note that the function still works: the ten seconds begin again."""
        self.due = time.monotonic() + SECONDS

    def __enter__(self) -> Self:
        _watcher.add(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _watcher.remove(self)
        if self._is_named:
            self._log.warning("%s ended after %.0f seconds", self._what, time.monotonic() - self._started)

    def warn(self) -> None:
        """Warn that the function does not return."""
        self._is_named = True
        self._log.warning("%s does not return, for %.0f seconds now", self._what, math.ceil(SECONDS))


class _Watcher:
    """The thread that watches all running functions: most take less time than the start of a thread.

    It wakes up at least every ten seconds, so nothing has to wake it for a function that begins.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: set[HangWatch] = set()
        self._is_started = False
        self._wakes_up = 0.0
        self._sooner = threading.Event()

    def add(self, watch: HangWatch) -> None:
        with self._lock:
            self._watched.add(watch)
            if not self._is_started:
                self._is_started = True
                threading.Thread(target=self._work, name="hang watch", daemon=True).start()
            elif watch.due < self._wakes_up:  # only if SECONDS was changed
                self._sooner.set()

    def remove(self, watch: HangWatch) -> None:
        with self._lock:
            self._watched.discard(watch)

    def _work(self) -> None:
        while True:
            now = time.monotonic()
            with self._lock:
                late = [watch for watch in self._watched if watch.due <= now]
                self._watched.difference_update(late)
                self._wakes_up = min((watch.due for watch in self._watched), default=now + SECONDS)
                self._sooner.clear()
            for watch in late:
                watch.warn()
            self._sooner.wait(self._wakes_up - time.monotonic())


def _start_again() -> None:
    """Watch in a forked process, too: it has none of the threads."""
    global _watcher  # noqa: PLW0603
    _watcher = _Watcher()


_watcher = _Watcher()
os.register_at_fork(after_in_child=_start_again)
