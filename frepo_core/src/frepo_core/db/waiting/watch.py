"""Watches the requests that wait for a database server: each for a limited time, and none if it does not answer."""

import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlalchemy import Engine

from frepo_core.errors import DatabaseUnavailableError

from .patience import Patience, current_patience, waiting_at_most

log = logging.getLogger(__name__)

Result = TypeVar("Result")

NO_ANSWER = "The database does not answer, try again later"
LONG_WAITS = 8
TICK = 0.25
SLOW_SECONDS = 1.0
RELEASE_SECONDS = 3.0
QUICK_RELEASE_SECONDS = 1.0
PROBE_SECONDS = 2.0
PROBE_PAUSE = 1.0
RETRY_PAUSE = 0.5
IDLE_TICKS = 40


class Threads(Protocol):
    """The threads of the server that handle requests."""

    @property
    def count(self) -> int:
        """How many there are."""

    @property
    def idle(self) -> int:
        """How many have no request."""

    @property
    def queued(self) -> int:
        """How many requests wait for a thread."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Wait:
    """A thread that waits for the server, by the descriptor of its connection, which is None while it connects."""

    descriptor: int | None
    patience: Patience
    started: float


class Watch:
    """Ends waits that take too long, in a thread of its own that runs while requests use the database.

    A wait is ended by closing its connection. That is done when the request's patience is over, or after
    `RELEASE_SECONDS` if other requests are queued and no thread of the server is idle. If that lasts, further waits are
    ended after `QUICK_RELEASE_SECONDS`, so that requests that need no database have their turn.

    If a wait takes `SLOW_SECONDS`, `probe` is called: it makes a connection and a query. While a probe hangs, requests
    fail at once, and the probe is repeated.
    """

    def __init__(self, probe: Callable[[], object]) -> None:
        self.threads: Threads | None = None
        self.hangs = False
        self._probe = probe
        self._is_probing = False
        self._probed_at = 0.0
        self._busy_since: float | None = None
        self._lock = threading.Lock()
        self._waits: set[Wait] = set()
        self._long: set[Patience] = set()
        self._thread: threading.Thread | None = None

    @classmethod
    def of(cls, engine: Engine) -> "Watch":
        """Return the watch of an engine of `make_engine`."""
        dialect: Any = engine.dialect
        watch: Watch = dialect.watch
        return watch

    def admit(self) -> Patience | None:
        """Return the patience of this thread's request; None if it handles none.

        Raises `DatabaseUnavailableError` if the request need not begin to wait.
        """
        patience = current_patience()
        if patience is not None and (self.hangs or patience.ends_after(0)):
            raise DatabaseUnavailableError(NO_ANSWER)
        return patience

    def begin(self, descriptor: int | None) -> Wait | None:
        """Watch this thread's wait until `end`. Those of jobs and commands are not watched."""
        patience = current_patience()
        if patience is None:
            return None
        wait = Wait(descriptor=descriptor, patience=patience, started=time.monotonic())
        with self._lock:
            self._waits.add(wait)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="database watch", daemon=True)
                self._thread.start()
        return wait

    def end(self, wait: Wait | None) -> None:
        """End a wait, and count it."""
        if wait is not None:
            wait.patience.count(time.monotonic() - wait.started)
            with self._lock:
                self._waits.discard(wait)

    def patiently(self, run: Callable[[], Result], may_repeat: Callable[[], bool] = lambda: True) -> Result:
        """Return `run()`. If this thread's request may wait longer, repeat it while the database is unavailable."""
        while True:
            try:
                return run()
            except DatabaseUnavailableError:
                patience = current_patience()
                if patience is None or not may_repeat() or not self._lengthen(patience) or patience.ends_after(0):
                    raise
                time.sleep(RETRY_PAUSE)
                patience.seconds -= RETRY_PAUSE

    def forget(self, patience: Patience) -> None:
        """Let another request wait long."""
        with self._lock:
            self._long.discard(patience)

    def _lengthen(self, patience: Patience) -> bool:
        """Return whether a request waits long, or begins to. One thread of the server never does."""
        threads = self.threads
        with self._lock:
            most = min(LONG_WAITS, threads.count - 1) if threads and patience.more else 0
            if not patience.is_long and len(self._long) < most:
                self._long.add(patience)
                patience.seconds, patience.is_long = patience.seconds + patience.more, True
            return patience.is_long

    def _run(self) -> None:
        idle_ticks = 0
        while True:
            time.sleep(TICK)
            with self._lock:
                waits = tuple(self._waits)
                idle_ticks = 0 if waits or self.hangs else idle_ticks + 1
                if idle_ticks == IDLE_TICKS:
                    self._thread = None
                    return
            self._look(waits)

    def _look(self, waits: Iterable[Wait]) -> None:
        now, is_slow = time.monotonic(), self.hangs
        release = self._release_after(now)
        for wait in waits:
            seconds, patience = now - wait.started, wait.patience
            is_slow = is_slow or seconds > SLOW_SECONDS
            is_over, blocks = patience.ends_after(seconds), seconds > release
            if (is_over and patience.is_long) or ((is_over or blocks) and not self._lengthen(patience)):
                self._cut(wait)
        if is_slow and not self._is_probing and now - self._probed_at > PROBE_PAUSE:
            self._is_probing = True
            threading.Thread(target=self._try_probe, name="database probe", daemon=True).start()

    def _release_after(self, now: float) -> float:
        """Return after how many seconds a request that waits gives its thread to another one."""
        if self.threads is None or self.threads.idle or not self.threads.queued:
            self._busy_since = None
            return float("inf")
        self._busy_since = self._busy_since or now
        return RELEASE_SECONDS if now - self._busy_since < RELEASE_SECONDS else QUICK_RELEASE_SECONDS

    def _cut(self, wait: Wait) -> None:
        """Close the connection of a wait: its thread gets an error of the driver."""
        with self._lock:  # afterwards the descriptor may be that of something else
            if wait in self._waits and wait.descriptor is not None:
                wait.patience.is_over = True
                # The server may have closed it a moment ago.
                with contextlib.suppress(OSError), socket.socket(fileno=os.dup(wait.descriptor)) as connection:
                    connection.shutdown(socket.SHUT_RDWR)

    def _try_probe(self) -> None:
        started, hangs = time.monotonic(), False
        try:
            with waiting_at_most(PROBE_SECONDS):
                self._probe()
        except Exception:  # noqa: BLE001  # any error of the driver; a quick one, such as a refused connection, is no hang
            hangs = time.monotonic() - started > PROBE_SECONDS / 2
        if hangs and not self.hangs:
            log.error("the database does not answer; requests are answered 503 at once until it does")
        elif self.hangs and not hangs:
            log.warning("requests use the database again")
        self.hangs, self._probed_at, self._is_probing = hangs, time.monotonic(), False
