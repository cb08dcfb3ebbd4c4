"""Leases for uploads that shorten the trash: one upload of a collection at a time, over all processes and hosts."""

import logging
import threading
import time
from collections.abc import Callable

from frepo_core.db import Database
from frepo_core.errors import FrepoError, StorageFull

from ...base.lease import Lease, LeaseTerms, make_holder

log = logging.getLogger(__name__)

# Short: a process that has ended must not keep a collection waiting. An expired lease is free after a renewal's time.
TERMS = LeaseTerms(length=9)
WAIT_SECONDS = 5.0
POLL_SECONDS = 0.25
# Threads that wait for a lease at the same time; others are refused at once, so that no collection takes all threads.
_MAX_WAITING = 2


class RoomLeases:
    """Acquires leases and renews them in a thread, which runs only while there are any."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._places = threading.BoundedSemaphore(_MAX_WAITING)
        self._lock = threading.Lock()
        self._held: dict[Lease, Callable[[], bool]] = {}
        self._changed = threading.Event()

    def acquire(self, collection_id: str, is_needed: Callable[[], bool]) -> Lease:
        """Acquire the lease of a collection, and hold it until `is_needed` returns False; call `wake` then.

        Raises `StorageFull` if another upload holds it for five seconds.
        """
        lease = Lease(self._database, f"room:{collection_id}", holder=make_holder(), terms=TERMS)
        if not lease.try_acquire():
            self._wait(lease, is_needed)
        with self._lock:
            self._held[lease] = is_needed
            if len(self._held) == 1:
                threading.Thread(target=self._keep, name="frepo-room", daemon=True).start()
        return lease

    def wake(self) -> None:
        """Release leases that are not needed any more, in the thread. Never waits."""
        self._changed.set()

    def _wait(self, lease: Lease, is_needed: Callable[[], bool]) -> None:
        if self._places.acquire(blocking=False):
            try:
                end = time.monotonic() + WAIT_SECONDS
                while time.monotonic() < end and is_needed():
                    time.sleep(POLL_SECONDS)
                    if lease.try_acquire():
                        return
            finally:
                self._places.release()
        raise StorageFull("The storage is full, and another upload of this collection makes room: try again later")

    def _keep(self) -> None:
        while True:
            self._changed.wait(TERMS.renewal)
            self._changed.clear()
            for lease, is_needed in list(self._held.items()):
                self._renew(lease, is_needed=is_needed())
            with self._lock:
                if not self._held:
                    return

    def _renew(self, lease: Lease, *, is_needed: bool) -> None:
        try:
            if is_needed and lease.renew():
                return
            lease.release()
        except FrepoError:
            log.exception("the lease %s was not renewed", lease.name)
            if lease.is_held:
                return
        with self._lock:
            del self._held[lease]
