"""Whether this process leads, as the threads of the worker see it, and the signals that wake them."""

import threading
from collections.abc import Callable


class Signal:
    """Wakes threads. A thread takes a `ticket`, looks for work, and then waits for a signal after the ticket."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self.ticket = 0

    def fire(self) -> None:
        """Wake all threads that wait."""
        with self._condition:
            self.ticket += 1
            self._condition.notify_all()

    def wait(self, ticket: int, seconds: float | None) -> None:
        """Wait for a signal after the ticket, at most `seconds` (None: without end)."""
        with self._condition:
            self._condition.wait_for(lambda: self.ticket != ticket, seconds)


class Leadership:
    """The epoch under which this process leads, 0 if it does not.

    `is_certain` says whether the lease is held for certain; a process that was frozen for longer than its lease does
    not lead, although it has not noticed yet. Signals: `changed` when the leadership begins or ends, `committed` after
    a commit of this process, `numbered` when there are new events to deliver.
    """

    def __init__(self, is_certain: Callable[[], bool]) -> None:
        self._is_certain = is_certain
        self._epoch = 0
        self.is_stopping = False
        self.changed, self.committed, self.numbered = Signal(), Signal(), Signal()

    @property
    def epoch(self) -> int:
        """The epoch under which this process leads now, else 0."""
        return self._epoch if self._epoch and not self.is_stopping and self._is_certain() else 0

    @property
    def was_elected(self) -> bool:
        """Whether this process was elected and has not stepped down, even if its lease is uncertain now."""
        return self._epoch > 0

    def begin(self, epoch: int) -> None:
        """Lead from now on."""
        self._epoch = epoch
        self._fire_all()

    def end(self) -> None:
        """Lead no longer."""
        self._epoch = 0
        self._fire_all()

    def stop(self) -> None:
        """Lead no longer, and end all threads that wait."""
        self.is_stopping = True
        self._fire_all()

    def wait_for_term(self) -> int:
        """Wait until this process leads, and return the epoch. Return 0 if the worker stops."""
        while not self.is_stopping:
            ticket = self.changed.ticket
            if epoch := self.epoch:
                return epoch
            # With a limit: a lease that was uncertain becomes certain again by a renewal, without a signal.
            self.changed.wait(ticket, 1.0 if self._epoch else None)
        return 0

    def _fire_all(self) -> None:
        for signal in (self.changed, self.committed, self.numbered):
            signal.fire()
