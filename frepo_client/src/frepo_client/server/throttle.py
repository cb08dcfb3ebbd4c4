"""Sending slower than the line allows, so that others can use it, too."""

from __future__ import annotations

import io
import time
from typing import BinaryIO


class Throttled:
    """A body that is read with at most `rate` bytes per second."""

    def __init__(self, body: bytes | BinaryIO, rate: int) -> None:
        self._body = io.BytesIO(body) if isinstance(body, bytes) else body
        self._rate = rate
        self._began = time.monotonic()
        self._done = 0

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes when it is time to send them."""
        piece = self._body.read(min(size, 1 << 16) if size >= 0 else 1 << 16)
        self._done += len(piece)
        early = self._done / self._rate - (time.monotonic() - self._began)
        if early > 0:
            time.sleep(early)
        return piece
