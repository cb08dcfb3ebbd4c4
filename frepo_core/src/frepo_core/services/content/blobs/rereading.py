"""Reads a blob that is known to be damaged again when somebody downloads it: its bytes may be right again."""

import logging
import threading
from datetime import timedelta

from sqlalchemy import select

from frepo_core.db import Database, utc_now
from frepo_core.db.models import StoredObject
from frepo_core.domain.identity import Actor
from frepo_core.errors import FrepoError

from ...base.rate_limit import RateLimit
from ..objects.states import CURRENT, LACKING, ObjectState
from ..storages.backends import Backends
from .blob_reader import BlobReader

log = logging.getLogger(__name__)

# How long a download waits for the result, in seconds. A large blob is read on meanwhile, for the next download.
WAIT_SECONDS = 2.0
# How often a blob is read again, so that clients cannot keep the storage busy.
AGAIN_AFTER = timedelta(minutes=1)


class Rereading:
    """Reads one blob at a time in each process, in a thread of its own."""

    def __init__(self, database: Database, backends: Backends, *, rate: int, is_read_only: bool) -> None:
        """`rate` is in bytes a second; 0: no limit. A read-only service reads nothing again."""
        self._database = database
        self._reader = BlobReader(
            database, backends, RateLimit(rate, keep_going=lambda: None), Actor(name="system:downloads")
        )
        self._is_read_only = is_read_only
        self._busy = threading.Lock()

    def heals(self, content_id: int) -> bool:
        """Return whether the blob was found to be sound. Do not wait if another one is being read."""
        if self._is_read_only or not self._busy.acquire(blocking=False):
            return False
        results: list[bool] = []
        thread = threading.Thread(target=self._read, args=(content_id, results), name="frepo rereading", daemon=True)
        thread.start()
        thread.join(WAIT_SECONDS)
        return any(results)

    def _read(self, content_id: int, results: list[bool]) -> None:
        try:
            results.append(self._is_sound(content_id))
        except FrepoError as error:
            log.warning("the damaged blob %s was not read again: %s", content_id, error.message)
        except Exception:
            log.exception("the damaged blob %s was not read again", content_id)
        finally:
            self._busy.release()

    def _is_sound(self, content_id: int) -> bool:
        """Read the current objects of a content; return whether one is sound."""
        current = (StoredObject.content_id == content_id, StoredObject.slot == CURRENT, StoredObject.key.is_not(None))
        with self._database.reading() as session:
            rows = session.scalars(select(StoredObject).where(*current).order_by(StoredObject.id)).all()
        return any(self._was_read(row) for row in rows)

    def _was_read(self, row: StoredObject) -> bool:
        if row.state == ObjectState.PRESENT:
            return True
        if row.state not in LACKING or (row.read_at is not None and abs(utc_now() - row.read_at) < AGAIN_AFTER):
            return False
        is_current, damage = self._reader.read(row)
        return is_current and damage is None
