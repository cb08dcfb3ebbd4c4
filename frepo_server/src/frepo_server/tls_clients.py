"""Recognizes clients that speak TLS: they would wait for their handshake until the connection times out."""

import logging
import math
import time

# The type of the first record of a connection (RFC 8446, 5.1). No request begins with it.
HANDSHAKE = b"\x16"
WARN_EVERY = 60.0

log = logging.getLogger(__name__)


class TlsWarnings:
    """Logs at most once a minute that a client speaks TLS, and how many connections did since the last line."""

    def __init__(self) -> None:
        self._last = -math.inf
        self._count = 0

    def note(self, address: str) -> None:
        """Count a connection from this address."""
        self._count += 1
        now = time.monotonic()
        if now - self._last < WARN_EVERY:
            return
        log.warning(
            "A client speaks TLS, but this port takes plain HTTP: %s. Use http:// there, or TLS at the proxy only. "
            "Since the last such line %d connections were closed",
            *(address, self._count),
        )
        self._last, self._count = now, 0
