"""Gives up connections on which no byte moves, so that nobody keeps a worker or a descriptor by saying nothing."""

import math
import time
from typing import Any

from waitress.server import BaseWSGIServer

from .early_response import AskingChannel


class IdleTimeout:
    """Looks at the connections now and then, in place of waitress.

    waitress goes by the host's clock, which may be set back, and waits for ever for those who stop reading.
    """

    def __init__(self, server: Any, sockets: dict[int, Any]) -> None:
        self._sockets = sockets
        self._interval, self._silence = server.adj.cleanup_interval, server.adj.channel_timeout
        self._next = time.monotonic() + self._interval
        for listener in sockets.values():
            if isinstance(listener, BaseWSGIServer):
                listener.next_channel_cleanup = math.inf  # its own look

    def check(self) -> None:
        """Close whoever neither sent nor took anything for `channel_timeout`, unless the answer is being made."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._interval
        for channel in [each for each in self._sockets.values() if isinstance(each, AskingChannel)]:
            is_clients_turn = (channel.is_answered and not channel.requests) or channel.total_outbufs_len
            if is_clients_turn and channel.last_activity < now - self._silence:
                channel.handle_close()  # `will_close` would wait until the client reads
