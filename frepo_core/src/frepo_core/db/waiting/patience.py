"""How long the request of this thread may still wait for the database. Jobs and commands wait without a limit.

A thread that calls a plug-in or a storage for a request has the context of the request, so it shares its patience.
A wait of less than `QUICK_SECONDS` does not count: a database that answers at once may have much work for one request.
"""

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(kw_only=True, eq=False)
class Patience:
    """What is left of the time that a request may wait, in seconds.

    `more` can be added once, which makes it long: for an upload that is too large to send again. `is_over`: a wait was
    ended.
    """

    seconds: float
    more: float = 0
    is_long: bool = False
    is_over: bool = False

    def count(self, seconds: float) -> None:
        """Count a wait, unless it was quick."""
        if seconds >= QUICK_SECONDS:
            self.seconds -= seconds

    def ends_after(self, seconds: float) -> bool:
        """Return whether a wait that has taken `seconds` is too long."""
        return self.is_over or seconds >= self.seconds


QUICK_SECONDS = 0.25

_current: ContextVar[Patience | None] = ContextVar("patience", default=None)


def current_patience() -> Patience | None:
    """Return the patience of the request that this thread handles, None if it handles none."""
    return _current.get()


@contextlib.contextmanager
def waiting_at_most(seconds: float, more: float = 0) -> Iterator[Patience]:
    """Limit how long this thread waits for databases in all, while the body of the `with` statement runs."""
    patience = Patience(seconds=seconds, more=more)
    before = _current.set(patience)
    try:
        yield patience
    finally:
        _current.reset(before)


@contextlib.contextmanager
def trying(seconds: float) -> Iterator[None]:
    """Limit a step to a part of the time that this thread may wait, if it has a limit."""
    outer = current_patience()
    part = seconds if outer is None else min(seconds, outer.seconds)
    with waiting_at_most(part) as inner:
        try:
            yield
        finally:
            if outer is not None:
                outer.seconds -= part - inner.seconds


@contextlib.contextmanager
def counted() -> Iterator[float]:
    """Count the time of the body of the `with` statement as a wait. Yield how long it may take."""
    patience, started = current_patience(), time.monotonic()
    try:
        yield float("inf") if patience is None else max(patience.seconds, 0)
    finally:
        if patience is not None:
            patience.count(time.monotonic() - started)
