"""Runs waitress until a signal, then lets what is under way end: no upload is cut by a restart."""

import contextlib
import logging
import signal
import time
from typing import Any

from waitress import wasyncore
from waitress.server import BaseWSGIServer

from .early_response import AskingChannel
from .idle_timeout import IdleTimeout, Timeouts

log = logging.getLogger(__name__)

# A proxy may be sending a request on a connection that it kept: only one that stays silent for so long is closed.
IDLE_SECONDS = 1.0


class Stop:
    """What SIGTERM asks for: the first one an orderly stop, the second one an end at once."""

    def __init__(self) -> None:
        self.is_wanted = False
        signal.signal(signal.SIGTERM, self._ask)

    def _ask(self, *_: Any) -> None:
        if self.is_wanted:
            raise SystemExit(0)
        self.is_wanted = True


def run(server: Any, stop: Stop, seconds: float, timeouts: Timeouts) -> None:
    """Serve until `stop` is wanted, then for at most so many seconds those whose request has begun."""
    sockets = getattr(server, "map", None) or server._map  # several listeners, or one
    idle = IdleTimeout(server, sockets, timeouts)
    with contextlib.suppress(SystemExit, KeyboardInterrupt):
        while not stop.is_wanted:
            _turn(server, sockets)
            idle.check()
        _drain(server, sockets, idle, time.monotonic() + seconds)
    server.task_dispatcher.shutdown()
    wasyncore.close_all(sockets)


def _drain(server: Any, sockets: dict[int, Any], idle: IdleTimeout, deadline: float) -> None:
    listeners = [each for each in sockets.values() if isinstance(each, BaseWSGIServer)]
    for listener in listeners:
        _accept_the_last(listener, sockets)
        wasyncore.dispatcher.close(listener)  # its own close would take from the workers what wakes this thread
    while busy := _say_goodbye(sockets):
        if time.monotonic() > deadline:
            log.warning("%d connections are cut off, as long_execution_time is over", busy)
            return
        _turn(server, sockets)
        idle.check()


def _accept_the_last(listener: BaseWSGIServer, sockets: dict[int, Any]) -> None:
    """Accept those who are connected already, as the system sees it; they would be reset."""
    before = -1
    while len(sockets) > before:
        before = len(sockets)
        listener.handle_accept()


def _say_goodbye(sockets: dict[int, Any]) -> int:
    """Have silent connections closed, and the others end with the answer; return how many are not closed yet."""
    channels = [each for each in sockets.values() if isinstance(each, AskingChannel)]
    for channel in channels:
        begun = [*channel.requests, *([channel.request] if channel.request else [])]
        for request in begun:
            request.headers["CONNECTION"] = "close"  # as if the client had asked for it
        is_idle = not begun and not channel.total_outbufs_len
        if channel.is_forgetting or (is_idle and channel.last_activity < time.monotonic() - IDLE_SECONDS):
            channel.will_close = True
    return len(channels)


def _turn(server: Any, sockets: dict[int, Any]) -> None:
    """Look at the sockets once, for at most a second."""
    wasyncore.loop(timeout=1, use_poll=server.adj.asyncore_use_poll, map=sockets, count=1)
