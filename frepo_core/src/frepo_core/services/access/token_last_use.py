"""Remembers when and from where each token was used last, and writes that to the database once a minute.

So no request writes for it. A process that is killed loses at most the uses of one minute.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias

from sqlalchemy import bindparam, or_, update
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Token
from frepo_core.errors import FrepoError

from .chains import note_first_use

log = logging.getLogger(__name__)

SECONDS = 60.0
# Tokens in memory, some 10 MB. More than that are used within a minute only if the database refuses writes, too.
MAX_TOKENS = 20_000
BATCH = 500
# The length of the column.
_MAX_ADDRESS = 64
Use: TypeAlias = tuple[datetime, str]

_STORE = (
    update(Token)
    .where(
        Token.key == bindparam("used_key"),
        # Another process may have written a later use.
        or_(Token.last_used_at.is_(None), Token.last_used_at < bindparam("used_at")),
    )
    .values(last_used_at=bindparam("used_at"), last_used_from=bindparam("used_from"))
)


class TokenUses:
    """The last uses of tokens that are not in the database yet. Each process has its own."""

    def __init__(
        self, database: Database, *, is_read_only: bool = False, clock: Callable[[], datetime] = utc_now
    ) -> None:
        """With `is_read_only`, the service must not write, and no use is remembered."""
        self._database = database
        self._is_read_only = is_read_only
        self._clock = clock
        self._lock = threading.Lock()
        self._uses: dict[str, Use] = {}

    def note(self, key: str, address: str) -> None:
        """Remember that a token is used now from this address. If too many wait, forget the one that waits longest."""
        if self._is_read_only:
            return
        now = self._clock()
        with self._lock:
            if self._uses.pop(key, None) is None and len(self._uses) >= MAX_TOKENS:
                del self._uses[next(iter(self._uses))]
            self._uses[key] = now, address

    def note_first(self, key: str, replaced: str, address: str) -> None:
        """Write at once that a token is used that has replaced another one, because this ends the other one.

        If the database cannot be written, the next use is the first one.
        """
        if self._is_read_only:
            return
        try:
            note_first_use(self._database, key, replaced, address)
        except FrepoError as error:
            log.warning("the first use of a new token cannot be written now: %s", error)

    def flush(self) -> int:
        """Write the uses to the database, and return their number. Tokens that were deleted meanwhile are left out.

        Raises the error of the database if it cannot be written. What was not written is kept for the next time.
        """
        with self._lock:
            waiting, self._uses = self._uses, {}
        keys = sorted(waiting)  # in the same order in each process, so that they do not block each other
        written = 0
        try:
            while written < len(keys):
                batch = keys[written : written + BATCH]
                self._database.write(partial(_store, [(key, waiting[key]) for key in batch]))
                written += len(batch)
        finally:
            self._put_back({key: waiting[key] for key in keys[written:]})
        return written

    def _put_back(self, uses: Mapping[str, Use]) -> None:
        with self._lock:
            kept = {**uses, **self._uses}
            surplus = len(kept) - MAX_TOKENS
            self._uses = dict(list(kept.items())[surplus:]) if surplus > 0 else kept


class UseRecorder:
    """The thread that writes the uses each minute while the process serves, and once more when it stops."""

    def __init__(self, uses: TokenUses, seconds: float = SECONDS) -> None:
        self._uses = uses
        self._seconds = seconds
        self._wants_stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_failing = False

    def start(self) -> None:
        """Start the thread. It may be started again after a stop."""
        self._wants_stop.clear()
        self._thread = threading.Thread(target=self._run, name="frepo token uses", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Write the last uses, and end the thread. An error is logged."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._wants_stop.set()
            thread.join()

    def _run(self) -> None:
        while not self._wants_stop.wait(self._seconds):
            self._flush()
        self._flush()

    def _flush(self) -> None:
        """Write the uses. The first failure in a row is logged, not one a minute."""
        try:
            self._uses.flush()
        except Exception as error:
            if not self._is_failing:
                is_expected = isinstance(error, FrepoError)
                log.warning(
                    "the last uses of tokens cannot be written now and are kept in memory: %s",
                    error,
                    exc_info=None if is_expected else error,
                )
            self._is_failing = True
        else:
            self._is_failing = False


def _store(uses: Sequence[tuple[str, Use]], session: Session) -> None:
    rows: list[dict[str, Any]] = [
        {"used_key": key, "used_at": at, "used_from": address[:_MAX_ADDRESS] or None} for key, (at, address) in uses
    ]
    session.connection().execute(_STORE, rows)
