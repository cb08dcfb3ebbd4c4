"""Trying again, with pauses that grow and differ between machines."""

from __future__ import annotations

import random
import time
from http import HTTPStatus
from typing import Callable, TypeVar

from ..errors import ClientError, RefusedError, UnreachableError
from .connection import ConnectionFailedError, TransientAnswerError

T = TypeVar("T")
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 300.0


class Retry:
    """Tries for `seconds` since the first failure after a success. `say` gets a sentence before each pause."""

    def __init__(self, seconds: float, say: Callable[[str], None], url: str) -> None:
        self._seconds = seconds
        self.say = say
        self._url = url
        self._pauses = 0
        self._until: float | None = None

    def at_most(self, seconds: float) -> Retry:
        """Return one that tries for at most so long."""
        return Retry(min(seconds, self._seconds), self.say, self._url)

    def succeeded(self) -> None:
        """Begin the time and the pauses anew."""
        self._pauses = 0
        self._until = None

    def run(self, action: Callable[[], T], *, is_progress: bool = True) -> T:
        """Return what the action returns. Raises `UnreachableError` if it failed for as long as `retry` says.

        One that is no progress, such as a question how much is stored, does not begin the time anew.
        """
        while True:
            try:
                found = action()
            except (ConnectionFailedError, TransientAnswerError) as error:
                self.pause(error)
            else:
                if is_progress:
                    self.succeeded()
                return found

    def pause(self, error: Exception) -> None:
        """Wait before the next attempt. Raises `UnreachableError` if the time is over."""
        wish = getattr(error, "retry_after", None)
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2**self._pauses) * random.uniform(0.5, 1.0)
        pause = max(pause, min(wish, LONGEST_PAUSE)) if wish is not None else pause
        self._pauses += 1
        now = time.monotonic()
        if self._until is None:  # a dump may take hours before its first byte is sent
            self._until = now + self._seconds
        if now + pause > self._until:
            raise _end_of(error, self._url) from error
        self.say(f"{self._url}: {error}; next attempt in {pause:.0f} s")
        time.sleep(pause)


def _end_of(error: Exception, url: str) -> ClientError:
    """Return what a command ends with that has tried long enough."""
    if not isinstance(error, TransientAnswerError):
        return UnreachableError(f"{url} cannot be reached: {error}")
    if error.status == HTTPStatus.INSUFFICIENT_STORAGE:
        return RefusedError(str(error), error.status)
    return UnreachableError(f"{url} answers, but does not work: {error}")
