"""Closes slow and idle connections, so that they do not occupy threads and file descriptors."""

import math
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Self

from waitress.server import BaseWSGIServer

from .early_response import EarlyResponseChannel

CHECK_SECONDS = 5.0
# Above the first share of the connection limit, connections are closed down to the second share, idle ones first.
HIGH_SHARE, LOW_SHARE = 0.9, 0.7
CLOSE_INTERVAL = 0.25
UNITS = {"s": 1, "m": 60, "h": 3600}
# So many bodies of one client, in this process, may be silent for longer than `channel_timeout`.
MAX_SILENT_BODIES = 4
CLOSED_FOR_OTHERS = "too_many_connections"
MIN_IDLE_SECONDS = 1.0
MIN_HEAD_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """Limits for slow clients, in seconds and bytes per second."""

    head_timeout: float = 30.0
    body_min_rate: float = 500.0
    upload_idle: float = 3600.0

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> tuple[Self, dict[str, Any]]:
        """Return the timeouts in the server's settings, and the remaining settings. Raises `ValueError`."""
        names = [each.name for each in fields(cls)]
        values = {name: _positive(name, settings[name]) for name in names if name in settings}
        return cls(**values), {name: value for name, value in settings.items() if name not in names}


def _positive(name: str, text: Any) -> float:
    number, unit = str(text).strip(), 1
    if name == "upload_idle" and number[-1:] in UNITS:
        number, unit = number[:-1], UNITS[number[-1]]
    try:
        value = float(number) * unit
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise ValueError(f"{name} = {text} is not a positive number")
    return value


class IdleTimeout:
    """Checks the connections regularly, instead of waitress.

    waitress uses the host's clock, which may be set back, and waits forever for clients that stop reading.
    """

    def __init__(self, server: Any, sockets: dict[int, Any], timeouts: Timeouts | None = None) -> None:
        self._sockets, self._timeouts = sockets, timeouts or Timeouts()
        self._interval, self._silence = min(server.adj.cleanup_interval, CHECK_SECONDS), server.adj.channel_timeout
        self._limit = server.adj.connection_limit
        self._next_check = self._next_close = time.monotonic()
        for listener in sockets.values():
            if isinstance(listener, BaseWSGIServer):
                listener.next_channel_cleanup = math.inf  # disables waitress' check

    def check(self, now: float) -> None:
        """Close connections that were idle or too slow at `now`, unless the application works on their request.

        All bytes that arrived until `now`, a time by `time.monotonic`, have to be read before.
        A head has `head_timeout`. A body has `channel_timeout`, and a second more per `body_min_rate` bytes received;
        if the application knows the client, `upload_idle` instead, for at most `MAX_SILENT_BODIES`.
        """
        if len(self._sockets) > HIGH_SHARE * self._limit and now >= self._next_close:
            self._next_close = now + CLOSE_INTERVAL
            self._close_waiting(now, len(self._sockets) - math.floor(LOW_SHARE * self._limit))
        if now >= self._next_check:
            self._next_check = now + self._interval
            for channel in list(self._overdue(now)):
                channel.handle_close("timeout")  # with `will_close`, waitress would wait until the client reads

    def _overdue(self, now: float) -> Iterator[EarlyResponseChannel]:
        silent: dict[str, list[EarlyResponseChannel]] = defaultdict(list)
        for channel in self._channels():
            channel.check_body()
            if not self._is_over(channel, now, self._silence):
                continue
            owner = _owner_of(channel)
            if owner is None or self._is_over(channel, now, self._timeouts.upload_idle):
                yield channel
            else:
                silent[owner].append(channel)
        for channels in silent.values():
            yield from sorted(channels, key=lambda channel: channel.last_activity)[:-MAX_SILENT_BODIES]

    def _is_over(self, channel: EarlyResponseChannel, now: float, silence: float) -> bool:
        return self._is_idle(channel, now, silence) or self._is_slow(channel, now, silence)

    def _channels(self) -> list[EarlyResponseChannel]:
        return [each for each in self._sockets.values() if isinstance(each, EarlyResponseChannel)]

    def _is_idle(self, channel: EarlyResponseChannel, now: float, silence: float) -> bool:
        waits_for_client = not (channel.waits_for_application or channel.requests) or channel.total_outbufs_len
        return bool(waits_for_client and channel.last_activity < now - silence)

    def _is_slow(self, channel: EarlyResponseChannel, now: float, silence: float) -> bool:
        request, limits = channel.request, self._timeouts
        if channel.is_discarding:
            channel.discards_since = channel.discards_since or now
            return now > channel.discards_since + limits.head_timeout + channel.discarded_bytes / limits.body_min_rate
        if request is None:
            return False
        if channel.requests or channel.total_outbufs_len or channel.waits_for_application:
            request.started_at, request.received_bytes = now, 0  # the client waits for the answer
            return False
        if not request.headers_finished:
            return bool(now > request.started_at + limits.head_timeout)
        return bool(now > request.started_at + silence + request.received_bytes / limits.body_min_rate)

    def _close_waiting(self, now: float, count: int) -> None:
        """Close `count` idle connections, oldest first, then those that have not sent a whole head, then bodies."""
        waiting = [each for each in self._channels() if not each.requests and not each.total_outbufs_len]
        idle = [(each.last_activity, each) for each in waiting if each.request is None and not each.is_discarding]
        heads = [
            (request.started_at, each)
            for each in waiting
            if (request := each.request) is not None and not request.headers_finished
        ]
        for group, age in ((idle, MIN_IDLE_SECONDS), (heads, MIN_HEAD_SECONDS)):
            for since, channel in sorted(group, key=lambda pair: pair[0])[: max(count, 0)]:
                if now - since > age:
                    channel.handle_close(CLOSED_FOR_OTHERS)
                    count -= 1
        self._close_bodies(count)

    def _close_bodies(self, count: int) -> None:
        """Close up to `count` bodies of the clients with the most of them, those that are silent for longest first.

        Each client keeps `MAX_SILENT_BODIES`: one client cannot keep the others out.
        """
        bodies: dict[str, list[EarlyResponseChannel]] = defaultdict(list)
        for channel in sorted(self._channels(), key=lambda channel: -channel.last_activity):
            if (owner := _owner_of(channel)) is not None and not channel.waits_for_application:
                bodies[owner].append(channel)
        while count > 0 and bodies:
            most = max(bodies.values(), key=len)
            if len(most) <= MAX_SILENT_BODIES:
                break
            most.pop().handle_close(CLOSED_FOR_OTHERS)
            count -= 1


def _owner_of(channel: EarlyResponseChannel) -> str | None:
    """Return whose body is arriving, if the application knows the client."""
    request = channel.request
    is_arriving = request is not None and not channel.requests and not channel.total_outbufs_len
    return request.owner if is_arriving and not channel.is_discarding else None
