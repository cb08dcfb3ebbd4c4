"""Runs waitress until a signal, then finishes the current requests: a restart aborts no upload."""

import contextlib
import logging
import signal
import time
from collections.abc import Callable
from typing import Any

from waitress import wasyncore
from waitress.server import BaseWSGIServer

from .decision_task import STOP_SECONDS
from .early_response import EarlyResponseChannel
from .idle_timeout import IdleTimeout, Timeouts
from .task_dispatcher import TaskDispatcher

log = logging.getLogger(__name__)

# A proxy may just be sending a request on an idle connection. It is closed only after this time without data.
IDLE_SECONDS = 1.0
MAX_WAIT = 1.0
# A fault that stays must not take a whole processor, nor fill the log at once.
FAULT_PAUSE = 0.1


class StopSignal:
    """Handles SIGTERM: the first one requests a graceful stop, the second one ends the process at once.

    `wake` is called so that the thread that polls sockets, which handles the signal, does not wait any longer.
    """

    def __init__(self) -> None:
        self.is_requested = False
        self.wake: Callable[[], object] = lambda: None
        signal.signal(signal.SIGTERM, self._handle)

    def _handle(self, *_: Any) -> None:
        if self.is_requested:
            raise SystemExit(0)
        self.is_requested = True
        self.wake()


def run(server: Any, stop: StopSignal, seconds: float, timeouts: Timeouts) -> None:
    """Serve until a stop is requested, then finish started requests for at most `seconds`."""
    sockets = getattr(server, "map", None) or server._map  # the first with several listeners, the second with one
    loop = _Loop(server, sockets, timeouts)
    stop.wake = server.task_dispatcher.wake = _listeners(sockets)[0].pull_trigger
    with contextlib.suppress(SystemExit, KeyboardInterrupt):
        while not stop.is_requested:
            loop.turn()
        _drain(loop, sockets, time.monotonic() + seconds)
    server.task_dispatcher.shutdown()
    _end_feeds(sockets)
    wasyncore.close_all(sockets)


class _Loop:
    """Handles events of sockets, starts tasks that have waited, and closes idle and slow connections."""

    def __init__(self, server: Any, sockets: dict[int, Any], timeouts: Timeouts) -> None:
        self._sockets = sockets
        self._idle = IdleTimeout(server, sockets, timeouts)
        self._tasks: TaskDispatcher = server.task_dispatcher

    def turn(self) -> None:
        """Do each of it once, and wait at most a second for an event.

        Connections are checked as of the time before the wait. Everything that arrived until then has been read,
        however long this thread was held up, e.g. by a slow disk; otherwise that time would count as the clients'.
        """
        before = time.monotonic()
        timeout = self._tasks.start_waiting() or MAX_WAIT
        try:
            wasyncore.loop(timeout, use_poll=True, map=self._sockets, count=1)  # select takes 1,024 descriptors only
            self._idle.check(before)
        except Exception:
            log.exception("the thread that reads all connections has met an error: a fault of frepo-server")
            self._close_faulty()

    def _close_faulty(self) -> None:
        """Close the connections whose state raises an error: one of them must not end the service for all."""
        time.sleep(FAULT_PAUSE)
        for channel in _channels(self._sockets):
            try:
                channel.readable()
                channel.writable()
            except Exception:  # noqa: BLE001  # it was logged
                with contextlib.suppress(Exception):
                    channel.handle_close("error")


def _drain(loop: _Loop, sockets: dict[int, Any], deadline: float) -> None:
    for listener in _listeners(sockets):
        listener.handle_accept()  # what the kernel has established would be reset
        wasyncore.dispatcher.close(
            listener
        )  # the listener's own close would also close the trigger with which workers wake this thread
    while busy := _close_idle(sockets):
        if time.monotonic() > deadline:
            log.warning("closed %d connections with unfinished requests: long_execution_time is over", busy)
            return
        loop.turn()


def _end_feeds(sockets: dict[int, Any]) -> None:
    """Tell the application that the bodies that it takes while they arrive will not end."""
    deadline = time.monotonic() + STOP_SECONDS
    for channel in _channels(sockets):
        for request in (*channel.requests, channel.request):
            if request is not None and request.feed is not None:
                request.feed.end(max(deadline - time.monotonic(), 0))


def _channels(sockets: dict[int, Any]) -> list[EarlyResponseChannel]:
    return [each for each in sockets.values() if isinstance(each, EarlyResponseChannel)]


def _listeners(sockets: dict[int, Any]) -> list[BaseWSGIServer]:
    return [each for each in sockets.values() if isinstance(each, BaseWSGIServer)]


def _close_idle(sockets: dict[int, Any]) -> int:
    """Close idle connections, and the others after their answers. Return the number of open connections."""
    channels = _channels(sockets)
    for channel in channels:
        started = [each for each in (*channel.requests, channel.request) if each is not None]
        for request in started:
            request.headers["CONNECTION"] = "close"  # as if the client had requested it
        is_idle = not started and not channel.total_outbufs_len
        if channel.is_discarding or (is_idle and channel.last_activity < time.monotonic() - IDLE_SECONDS):
            channel.will_close = True
    return len(channels)
