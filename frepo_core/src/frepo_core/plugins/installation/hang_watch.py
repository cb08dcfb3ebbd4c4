"""Logs which call of a plug-in does not return: otherwise a service that hangs gives no reason."""

import logging
import math
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
        self._ended = threading.Event()
        self._started = time.monotonic()
        self._due = self._started + SECONDS
        self._is_named = False

    def touch(self) -> None:
        """Note that the function still works: the ten seconds begin again."""
        self._due = time.monotonic() + SECONDS

    def __enter__(self) -> Self:
        threading.Thread(target=self._wait, name="hang watch", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._is_named:
            self._log.warning("%s ended after %.0f seconds", self._what, time.monotonic() - self._started)

    def _wait(self) -> None:
        while not self._is_named:
            pause = self._due - time.monotonic()
            if self._ended.wait(max(pause, 0.0)):
                return
            if self._due <= time.monotonic():
                self._is_named = True
                self._log.warning("%s does not return, for %.0f seconds now", self._what, math.ceil(SECONDS))
