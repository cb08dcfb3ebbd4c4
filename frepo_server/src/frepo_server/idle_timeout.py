"""Closes connections that are too slow or idle, so that nobody keeps a thread or a descriptor without using it."""

import math
import time
from dataclasses import dataclass, fields
from typing import Any, Self

from waitress.server import BaseWSGIServer

from .early_response import AskingChannel

CHECK_SECONDS = 5.0
# Above the first part of the limit connections are closed, down to the second part, idle ones first.
MANY, ENOUGH = 0.9, 0.7
FREE_SECONDS = 0.25
MIN_IDLE_SECONDS = 1.0
MIN_HEAD_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """Limits for slow clients, in seconds and bytes a second."""

    head_timeout: float = 30.0
    body_min_rate: float = 500.0

    @classmethod
    def take(cls, settings: dict[str, Any]) -> tuple[Self, dict[str, Any]]:
        """Return the timeouts in the settings of the server, and the other settings. Raises `ValueError`."""
        names = [each.name for each in fields(cls)]
        values = {name: _positive(name, settings[name]) for name in names if name in settings}
        return cls(**values), {name: value for name, value in settings.items() if name not in names}


def _positive(name: str, text: Any) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise ValueError(f"{name} = {text} is not a positive number")
    return value


class IdleTimeout:
    """Checks the connections now and then, in place of waitress.

    waitress goes by the host's clock, which may be set back, and waits for ever for clients that stop reading.
    """

    def __init__(self, server: Any, sockets: dict[int, Any], timeouts: Timeouts | None = None) -> None:
        self._sockets, self._timeouts = sockets, timeouts or Timeouts()
        self._interval, self._silence = min(server.adj.cleanup_interval, CHECK_SECONDS), server.adj.channel_timeout
        self._limit = server.adj.connection_limit
        self._next_check = self._next_free = time.monotonic()
        for listener in sockets.values():
            if isinstance(listener, BaseWSGIServer):
                listener.next_channel_cleanup = math.inf  # its own check

    def check(self) -> None:
        """Close the connections that are silent or too slow, unless their answer is being made.

        A head has `head_timeout`. A body has `channel_timeout`, and a second more for each `body_min_rate` bytes.
        """
        now = time.monotonic()
        if len(self._sockets) > MANY * self._limit and now >= self._next_free:
            self._next_free = now + FREE_SECONDS
            self._free(now, len(self._sockets) - math.floor(ENOUGH * self._limit))
        if now >= self._next_check:
            self._next_check = now + self._interval
            for channel in self._channels():
                if self._is_silent(channel, now) or self._is_slow(channel, now):
                    channel.handle_close()  # `will_close` would wait until the client reads

    def _channels(self) -> list[AskingChannel]:
        return [each for each in self._sockets.values() if isinstance(each, AskingChannel)]

    def _is_silent(self, channel: AskingChannel, now: float) -> bool:
        is_clients_turn = (channel.is_answered and not channel.requests) or channel.total_outbufs_len
        return bool(is_clients_turn and channel.last_activity < now - self._silence)

    def _is_slow(self, channel: AskingChannel, now: float) -> bool:
        request, limits = channel.request, self._timeouts
        if channel.is_forgetting:
            channel.forgets_since = channel.forgets_since or now
            return now > channel.forgets_since + limits.head_timeout + channel.forgotten_bytes / limits.body_min_rate
        if request is None:
            return False
        if channel.requests or channel.total_outbufs_len or not channel.is_answered:
            request.began, request.received_bytes = now, 0  # the client waits for the service
            return False
        if not request.headers_finished:
            return bool(now > request.began + limits.head_timeout)
        return bool(now > request.began + self._silence + request.received_bytes / limits.body_min_rate)

    def _free(self, now: float, count: int) -> None:
        """Close so many connections on which no request is, oldest first; then those whose head takes long."""
        waiting = [each for each in self._channels() if not each.requests and not each.total_outbufs_len]
        idle = [(each.last_activity, each) for each in waiting if each.request is None and not each.is_forgetting]
        heads = [(each.request.began, each) for each in waiting if each.request and not each.request.headers_finished]
        for group, age in ((idle, MIN_IDLE_SECONDS), (heads, MIN_HEAD_SECONDS)):
            for since, channel in sorted(group, key=lambda pair: pair[0])[: max(count, 0)]:
                if now - since > age:
                    channel.handle_close()
                    count -= 1
