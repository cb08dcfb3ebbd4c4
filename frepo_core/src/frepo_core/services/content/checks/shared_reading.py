"""One reading of a content for its check and for those who follow it: what the check reads is kept for a moment."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import BinaryIO, cast

from frepo_core.plugins import NotFollowed

# So many bytes may a follower be behind.
WINDOW = 32 << 20
# Formats have their tables of contents there, to which readers come back.
HEAD = 8 << 20
# The check waits for followers this many seconds in all, and one for each 10 MB.
PATIENCE = 5.0
SPEED = 10_000_000
# At its end, it waits no longer than this: they have read all but a window.
LAST = 10.0


class SharedReading:
    """The content as its check reads it. What it waits for followers is in `waited`."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.size, self.waited = size, 0.0
        self._file, self._position, self._is_over = file, 0, False
        self._patience = PATIENCE + size / SPEED
        self._recent: deque[tuple[int, bytes]] = deque()
        self._head: list[tuple[int, bytes]] = []
        self._kept = 0
        self._followers: list[Follower] = []
        self._changed = threading.Condition()

    @property
    def file(self) -> BinaryIO:
        """This reading as a file: a check uses `read` and `seek` only."""
        return cast(BinaryIO, self)

    def follow(self) -> "Follower":
        """Return a file for a follower. To be called before the check reads."""
        self._followers.append(Follower(self))
        return self._followers[-1]

    def read(self, size: int = -1) -> bytes:
        """Read for the check. Waits for followers that are far behind, as long as there is patience."""
        data = self._file.read(size)
        if data and self._followers:
            self._keep(self._position, data)
        self._position += len(data)
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move the position of the check."""
        self._position = self._file.seek(offset, whence)
        return self._position

    def end(self) -> None:
        """Say that the check reads no more, and wait until the followers have read what is kept."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
            self._patience = min(self._patience, LAST)
            self._wait_while(lambda: bool(self._followers))
            self._leave_behind()

    def _keep(self, start: int, data: bytes) -> None:
        with self._changed:
            self._recent.append((start, data))
            self._kept += len(data)
            if start < HEAD:
                self._head.append((start, data))
            self._changed.notify_all()
            if self._kept > WINDOW:
                begin = time.monotonic()
                self._wait_while(self._is_one_behind)
                self.waited += time.monotonic() - begin
                if self._is_one_behind():
                    self._leave_behind()
            while self._kept > WINDOW:
                self._kept -= len(self._recent.popleft()[1])

    def _is_one_behind(self) -> bool:
        start, data = self._recent[0]
        return any(one.position < start + len(data) for one in self._followers)

    def _wait_while(self, condition: Callable[[], bool]) -> None:
        begin = time.monotonic()
        self._changed.wait_for(lambda: not condition(), timeout=self._patience)
        self._patience = max(0.0, self._patience - (time.monotonic() - begin))

    def _leave_behind(self) -> None:
        self._followers.clear()
        self._changed.notify_all()

    def take(self, follower: "Follower", size: int) -> bytes:
        """Return bytes for a follower, fewer only at the end. Raises `NotFollowed`."""
        with self._changed:
            while follower in self._followers and follower.position < self.size:
                if data := self._find(follower.position):
                    follower.position += len(data[:size])
                    self._changed.notify_all()
                    return data[:size]
                if self._is_over or follower.position < self._position:
                    raise NotFollowed(f"The check does not read byte {follower.position}, or has read it long ago")
                self._changed.wait()
            if follower not in self._followers:
                raise NotFollowed("The check does not wait any longer")
            return b""

    def _find(self, position: int) -> bytes:
        for kept in (reversed(self._recent), self._head):
            for start, data in kept:
                if start <= position < start + len(data):
                    return data[position - start :]
        return b""

    def leave(self, follower: "Follower") -> None:
        """Wait for a follower no longer."""
        with self._changed:
            if follower in self._followers:
                self._followers.remove(follower)
            self._changed.notify_all()


class Follower:
    """One who follows the check. `position` is up to where it has read."""

    def __init__(self, reading: SharedReading) -> None:
        self._reading, self.position = reading, 0

    def read_at(self, position: int, size: int) -> bytes:
        """Return bytes from a position, fewer only at the end. Raises `NotFollowed`."""
        self.position = position
        return self._reading.take(self, size)

    def leave(self) -> None:
        """Read no more."""
        self._reading.leave(self)
