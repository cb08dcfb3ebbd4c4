"""Notes what readers found out about copies: marks those that are wrong or missing, and records events."""

import atexit
import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import BinaryIO, cast

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Installation, StoredObject
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor
from frepo_core.errors import BlobNotFound, FrepoError, StorageUnavailable
from frepo_core.services.base.records import BlobRecord
from frepo_core.services.content.copies import Doubt, OpenOther
from frepo_core.services.content.objects.blob_damage import MISSING
from frepo_core.services.content.objects.marks import mark_damaged
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.content.storages.storage_troubles import StorageStates
from frepo_core.services.content.storages.write_guard import Presence
from frepo_core.services.events.event_counts import Counts
from frepo_core.services.events.recording import NewEvent, record

from .continued_content import ContinuedContent, ContinuedFile

log = logging.getLogger(__name__)

# The name of the value in the table `installation` with the number of reads that a second copy has answered.
COUNTER = "mirror.fallbacks."
# How long the end of the process waits for notes.
END_SECONDS = 5.0
_THREAD = "frepo fallback"
_READER = Actor(name="system:downloads")


def in_thread(work: Callable[[], None]) -> None:
    """Do it in a thread of its own: the server sends local files in the thread that serves all connections."""
    thread = threading.Thread(target=work, name=_THREAD, daemon=True)
    thread.start()


@atexit.register
def _join_threads() -> None:
    """Let the notes be written: a command ends right after it has read the content."""
    for thread in threading.enumerate():
        if thread.name == _THREAD:
            thread.join(END_SECONDS)


class FallbackNotes:
    """Never raises, and never delays a reader. A read-only service only logs."""

    def __init__(
        self,
        database: Database,
        backends: Backends,
        presence: Presence,
        states: StorageStates,
        *,
        is_read_only: bool,
        start: Callable[[Callable[[], None]], None] = in_thread,
    ) -> None:
        self._database = database
        self._backends = backends
        self._presence = presence
        self._states = states
        self._is_read_only = is_read_only
        self._start = start
        self._counts = Counts()

    def note(self, blob: BlobRecord, place: StoredObject, problem: str, doubt: Doubt) -> None:
        """Note that one copy of a content could not be used, so that another one is read."""
        log.warning("the copy %s of blob %s in %s is not read: %s", place.key, blob.id, place.storage, problem)
        if not self._is_read_only:
            self._start(partial(self._write, blob, place, problem, doubt))

    def continued(self, content: BinaryIO, start: int, length: int, open_other: OpenOther) -> BinaryIO:
        """Return the stream of `length` bytes from `start`, which another object continues if this one fails."""
        return cast(BinaryIO, ContinuedContent(content, start, length, open_other))

    def continued_file(self, file: BinaryIO, size: int, open_other: OpenOther) -> BinaryIO:
        """Return a local file of `size` bytes, which another object continues if it fails."""
        return cast(BinaryIO, ContinuedFile(file, size, open_other))

    def _write(self, blob: BlobRecord, place: StoredObject, problem: str, doubt: Doubt) -> None:
        try:
            if doubt is Doubt.UNREADABLE:
                self._states.failed(place.storage, StorageUnavailable(problem), by=_READER)
            elif doubt is Doubt.WRONG or (doubt is Doubt.MISSING and self._lacks_bytes(place)):
                self._mark(place, problem, doubt)
            self._record(blob, place, problem)
        except Exception:
            log.exception("that blob %s was read from another copy was not recorded", blob.id)

    def _lacks_bytes(self, place: StoredObject) -> bool:
        """Return whether the bytes are missing or short in a storage that is the one it was."""
        try:
            if self._backends.get(place.storage).stat(str(place.key)).size == place.object_size:
                return False
        except BlobNotFound:
            pass
        try:
            self._presence.look_for_mark(place.storage)
        except FrepoError as error:
            self._states.failed(place.storage, StorageUnavailable(error.message), by=_READER)
            return False
        return True

    def _mark(self, place: StoredObject, problem: str, doubt: Doubt) -> None:
        text = MISSING if doubt is Doubt.MISSING else problem

        def work(session: Session) -> bool:
            return mark_damaged(session, self._backends, place, text, by=_READER, only=True)

        self._database.write(work, may_use_reserve=True)

    def _record(self, blob: BlobRecord, place: StoredObject, problem: str) -> None:
        key = (place.storage, "", "")
        count = self._counts.take(key)
        if not count:
            return
        data = {
            "storage": place.storage,
            "key": place.key,
            "size": blob.size,
            "sha256": blob.digest,
            "problem": problem[:500],
            "count": count,
        }

        def work(session: Session) -> None:
            record(session, NewEvent(kind=EventKind.BLOB_FELL_BACK, by=_READER, data=data))
            name = COUNTER + place.storage
            row = session.scalar(select(Installation).where(Installation.name == name).with_for_update())
            session.merge(Installation(name=name, value=str(int(row.value if row else 0) + count)))

        try:
            self._database.write(work, may_use_reserve=True)
        except Exception:
            self._counts.put_back(key, count)
            raise
