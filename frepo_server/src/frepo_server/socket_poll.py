"""Waits for events with epoll: idle connections cost nothing, however many are open."""

import contextlib
import select
import time
from collections import deque
from typing import Any

from waitress import wasyncore

# Every socket is checked again after this time, in seconds.
CHECK_SECONDS = 1.0


class SocketMap(dict[int, Any]):
    """waitress' sockets by file descriptor. It remembers which of them the poll has to check.

    `replaced` are descriptors that were opened or closed since the last poll, by the thread that polls. `changed` are
    those of connections that a worker has changed; workers append to it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.replaced: set[int] = set()
        self.changed: deque[int] = deque()

    def __setitem__(self, descriptor: int, value: Any) -> None:
        super().__setitem__(descriptor, value)
        self.replaced.add(descriptor)

    def __delitem__(self, descriptor: int) -> None:
        super().__delitem__(descriptor)
        self.replaced.add(descriptor)


class SocketPoll:
    """Does what `wasyncore.loop` does, but asks only the sockets that may have changed what they wait for.

    A socket with `is_settled` waits for its client only. All others are asked each time, as waitress does.
    """

    def __init__(self, sockets: SocketMap) -> None:
        self._sockets = sockets
        self._poll = select.epoll()
        self._events: dict[int, int] = {}  # what each descriptor is registered for
        self._unsettled: set[int] = set()
        self._next_check = 0.0

    def wait(self, timeout: float) -> None:
        """Wait for events, at most `timeout` seconds, and handle them."""
        self._update()
        for descriptor, events in self._poll.poll(timeout):
            if descriptor in self._sockets.replaced:
                continue  # another connection got the descriptor; its own events are reported by the next poll
            if socket := self._sockets.get(descriptor):
                self._unsettled.add(descriptor)
                wasyncore.readwrite(socket, events)

    def check_all(self) -> None:
        """Check every socket before the next wait."""
        self._next_check = 0.0

    def close(self) -> None:
        """Release the descriptor of the poll."""
        self._poll.close()

    def _update(self) -> None:
        """Register the descriptors for what their sockets wait for now."""
        replaced, self._sockets.replaced = self._sockets.replaced, set()
        for descriptor in replaced:
            if self._events.pop(descriptor, None):
                with contextlib.suppress(OSError):  # the system has removed it when it was closed
                    self._poll.unregister(descriptor)
        descriptors = replaced | self._unsettled
        while self._sockets.changed:
            descriptors.add(self._sockets.changed.popleft())
        if (now := time.monotonic()) >= self._next_check:
            self._next_check = now + CHECK_SECONDS
            descriptors.update(self._sockets)
        for descriptor in descriptors:
            self._register(descriptor)

    def _register(self, descriptor: int) -> None:
        socket, events = self._sockets.get(descriptor), 0
        if socket is None or getattr(socket, "is_settled", False):
            self._unsettled.discard(descriptor)
        else:
            self._unsettled.add(descriptor)
        if socket is not None:
            events = select.EPOLLIN | select.EPOLLPRI if socket.readable() else 0
            events |= select.EPOLLOUT if socket.writable() and not socket.accepting else 0
        before = self._events.get(descriptor, 0)
        if events != before:
            self._events[descriptor] = events
            try:
                self._change(descriptor, before, events)
            except OSError:  # the descriptor is closed; waitress closes such sockets, too
                wasyncore.readwrite(socket, select.POLLNVAL)

    def _change(self, descriptor: int, before: int, events: int) -> None:
        if not events:
            self._poll.unregister(descriptor)
        elif before:
            self._poll.modify(descriptor, events)
        else:
            self._poll.register(descriptor, events)


class WaitressPoll:
    """waitress' own loop, for systems without epoll, and for servers without a `SocketMap`."""

    def __init__(self, sockets: dict[int, Any], use_poll: bool) -> None:
        self._sockets, self._use_poll = sockets, use_poll

    def wait(self, timeout: float) -> None:
        """Wait for events, at most `timeout` seconds, and handle them."""
        wasyncore.loop(timeout=timeout, use_poll=self._use_poll, map=self._sockets, count=1)

    def check_all(self) -> None:
        """Do nothing: each wait checks every socket."""

    def close(self) -> None:
        """Do nothing."""


def make_poll(sockets: dict[int, Any], use_poll: bool) -> SocketPoll | WaitressPoll:
    """Return the best poll for the sockets."""
    if isinstance(sockets, SocketMap) and hasattr(select, "epoll"):
        return SocketPoll(sockets)
    return WaitressPoll(sockets, use_poll)
