"""The threads that look each minute whether each configured storage is still the one it was."""

import logging
import threading

from frepo_core.db import Database
from frepo_core.domain.identity import Actor
from frepo_core.errors import FrepoError, StorageError

from .backends import Backends
from .first_storage import follow_promotion
from .storage_troubles import StorageStates
from .sweep_guard import Ownership
from .write_guard import Presence

log = logging.getLogger(__name__)

SECONDS = 60.0
_WATCH = Actor(name="system:storage")


class StorageWatch:
    """Marks one storage when the process starts to serve, then looks for the mark each minute.

    Sweeps of other services on the same storage then find the mark before they take new blobs for orphans. In a thread,
    because the storage may not answer.
    """

    def __init__(
        self,
        database: Database,
        backends: Backends,
        presence: Presence,
        states: StorageStates,
        *,
        storage: str | None = None,
        seconds: float = SECONDS,
    ) -> None:
        """`storage` is the name of the storage, by default the first one."""
        self._database = database
        self._backends = backends
        self._ownership = Ownership(database, backends)
        self._storage = storage or backends.current
        self._presence = presence
        self._states = states
        self._seconds = seconds
        self._wants_stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._works: bool | None = None  # None: not known yet

    def start(self) -> None:
        """Start the thread. It may be started again after a stop."""
        self._wants_stop.clear()
        self._thread = threading.Thread(target=self._run, name=f"frepo storage watch {self._storage}", daemon=True)
        self._thread.start()

    def stop(self, seconds: float = 1) -> None:
        """End the thread. If it waits for the storage longer than this, it ends with the process."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._wants_stop.set()
            thread.join(seconds)

    def _run(self) -> None:
        while True:
            self.look()
            if self._wants_stop.wait(self._seconds):
                return

    def look(self) -> None:
        """Look once. What begins or ends is logged and recorded, as failed and successful uploads are. Never raises."""
        storage = self._storage
        try:
            follow_promotion(self._database, self._backends)
            self._ownership.claim(storage)
            self._presence.look(storage)
        except StorageError as error:
            if self._works is not False:
                log.error("%s", error.message)
                self._states.failed(storage, error, by=_WATCH)
            self._works = False
        except FrepoError as error:
            log.warning("whether the storage %s is the right one is not known: %s", storage, error.message)
        except Exception:
            log.exception("whether the storage %s is the right one is not known", storage)
        else:
            if self._works is False:
                self._states.worked(storage, by=_WATCH)
            self._works = True
