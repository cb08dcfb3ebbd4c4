"""Limits how many wrong passwords a client can try, so that passwords cannot be guessed."""

import hashlib
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field

from frepo_core.domain.network.addresses import client_network
from frepo_core.errors import TooManyAttemptsError

MAX_ENTRIES = 50_000


@dataclass(kw_only=True)
class _Entry:
    """The wrong passwords of one client for one target, as short digests; valid until `until` (monotonic seconds)."""

    until: float
    wrong: set[bytes] = field(default_factory=set)


class PasswordAttempts:
    """Counts different wrong passwords for each pair of a target and a client address, in the memory of this process.

    A target is what the password protects, such as a file. The count restarts `window` seconds after its first
    failure. IPv6 clients are counted by their /64 network. Concurrent requests are checked before any of them has
    failed, so a client can make up to one extra attempt for each thread.
    """

    def __init__(self, *, limit: int, window: float) -> None:
        self._limit = limit
        self._window = window
        self._entries: OrderedDict[tuple[str, str], _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def require_left(self, target: str, client: str, *, what: str = "passwords") -> None:
        """Raise `TooManyAttemptsError` if the client has tried too many wrong passwords. A limit of 0 is no limit."""
        if seconds := self.seconds_to_wait(target, client):
            raise TooManyAttemptsError(
                f"Too many wrong {what} from this address, try again in {seconds} seconds", retry_after=seconds
            )

    def seconds_to_wait(self, target: str, client: str) -> int:
        """Return after how many seconds the client may try again; 0 if it may try now."""
        with self._lock:
            entry = self._entries.get((target, client_network(client)))
            if not self._limit or entry is None or len(entry.wrong) < self._limit:
                return 0
            return max(0, int(entry.until - time.monotonic() + 1))

    def add_failure(self, target: str, client: str, password: str) -> None:
        """Count a wrong password. The same password counts once."""
        if not self._limit:
            return
        key, now = (target, client_network(client)), time.monotonic()
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or entry.until <= now:
                self._entries.pop(key, None)
                entry = self._entries[key] = _Entry(until=now + self._window)
            entry.wrong.add(hashlib.sha256(password.encode()).digest()[:8])
            while len(self._entries) > MAX_ENTRIES:
                self._entries.popitem(last=False)
