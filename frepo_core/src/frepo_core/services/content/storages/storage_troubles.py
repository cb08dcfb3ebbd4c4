"""Remembers which storages are full or unavailable, and records when that begins and ends."""

import contextlib
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Installation
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By
from frepo_core.domain.structs import struct
from frepo_core.errors import StorageError, StorageFull

from ...events.recording import NewEvent, record

log = logging.getLogger(__name__)

# Names of values in the table `installation`. There is one for each storage that does not work.
PREFIX = "storage.state."
FULL, UNAVAILABLE = "full", "unavailable"
KINDS = {FULL: EventKind.STORAGE_FULL, UNAVAILABLE: EventKind.STORAGE_UNAVAILABLE}
# A storage that was full works again if it stores as much as it refused, or anything after this time.
FULL_FOR = timedelta(hours=1)
# How long a process relies on what it knows, in seconds.
REMEMBERED = 60.0
MAX_PROBLEM = 500


@struct
class _State:
    """What is wrong with a storage. Times are ISO 8601; `size` is the smallest upload in bytes that did not fit."""

    state: str
    since: str
    last: str
    size: int

    @property
    def last_at(self) -> datetime:
        return datetime.fromisoformat(self.last)


@struct
class StorageTrouble:
    """What is wrong with a storage: `full` or `unavailable`, and since when (UTC, aware)."""

    state: str
    since: datetime


def read_troubles(session: Session) -> dict[str, StorageTrouble]:
    """Return what is known to be wrong with storages, by their names. Uploads and health checks find it out."""
    rows = session.scalars(select(Installation).where(Installation.name.startswith(PREFIX, autoescape=True)))
    return {
        row.name.removeprefix(PREFIX): StorageTrouble(state=state.state, since=datetime.fromisoformat(state.since))
        for row in rows
        if (state := _parse(row))
    }


class StorageStates:
    """The states of storages, shared by all processes of a database. Recording one never fails: errors are logged."""

    def __init__(self, database: Database, *, is_read_only: bool = False) -> None:
        self._database = database
        self._is_read_only = is_read_only
        self._known: dict[str, tuple[float, _State | None]] = {}
        self._lock = threading.Lock()

    def worked(self, storage: str, *, by: By, size: int = 0) -> None:
        """Record that a storage has worked. `size` is what it has stored, in bytes; 0 if that was nothing."""
        with self._recorded(storage):
            known = self._recall(storage)
            if known is not None and _has_recovered(known, size):
                self._write(storage, lambda session: _recover(session, storage, by, size))

    def failed(self, storage: str, error: StorageError, *, by: By, size: int = 0) -> None:
        """Record that a storage has failed. `size` is what it should have stored, in bytes."""
        state = FULL if isinstance(error, StorageFull) else UNAVAILABLE
        with self._recorded(storage):
            known = self._recall(storage)
            if known is None or known.state != state or _is_old(known) or size < known.size:
                self._write(storage, lambda session: _fail(session, storage, by, size, state, error.message))

    @contextlib.contextmanager
    def _recorded(self, storage: str) -> Iterator[None]:
        try:
            yield
        except Exception:
            log.exception("the state of the storage %s was not recorded", storage)

    def _write(self, storage: str, work: Callable[[Session], _State | None]) -> None:
        if not self._is_read_only:
            self._remember(storage, self._database.write(work, may_use_reserve=True))

    def _recall(self, storage: str) -> _State | None:
        """Return what is known of the storage. It is read at most once a minute."""
        with self._lock:
            known = self._known.get(storage)
        if known and time.monotonic() - known[0] < REMEMBERED:
            return known[1]
        with self._database.reading() as session:
            state = _parse(session.get(Installation, PREFIX + storage))
        self._remember(storage, state)
        return state

    def _remember(self, storage: str, state: _State | None) -> None:
        with self._lock:
            self._known[storage] = (time.monotonic(), state)


def _recover(session: Session, storage: str, by: By, size: int) -> _State | None:
    """Record that a storage works again, unless another process has; return its state."""
    row = _locked(session, storage)
    before = _parse(row)
    if row is None or before is None or not _has_recovered(before, size):
        return before
    session.delete(row)
    data = {"storage": storage, "was": before.state, "since": before.since}
    record(session, NewEvent(kind=EventKind.STORAGE_RECOVERED, by=by, data=data))
    return None


def _fail(session: Session, storage: str, by: By, size: int, state: str, problem: str) -> _State:
    """Record a failure, with an event if the storage worked before or failed in another way; return its state."""
    row, now = _locked(session, storage), utc_now().isoformat()
    before = _parse(row)
    if before is not None and before.state == state:
        after = replace(before, last=now, size=min(size, before.size))
    else:
        after = _State(state=state, since=now, last=now, size=size)
        data = {"storage": storage, "problem": problem[:MAX_PROBLEM]}
        record(session, NewEvent(kind=KINDS[state], by=by, data=data))
    session.merge(Installation(name=PREFIX + storage, value=json.dumps(asdict(after))))
    return after


def _locked(session: Session, storage: str) -> Installation | None:
    return session.scalar(select(Installation).where(Installation.name == PREFIX + storage).with_for_update())


def _parse(row: Installation | None) -> _State | None:
    return _State(**json.loads(row.value)) if row else None


def _has_recovered(state: _State, size: int) -> bool:
    """Return whether a success of this size means that the storage works again."""
    return state.state != FULL or size >= max(state.size, 1) or utc_now() - state.last_at > FULL_FOR


def _is_old(state: _State) -> bool:
    return abs((utc_now() - state.last_at).total_seconds()) > REMEMBERED
