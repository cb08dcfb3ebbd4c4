"""Delivers events to one subscriber: in order, at least once, with tries that grow apart."""

import math
import time
import traceback
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from frepo_core.db import Database
from frepo_core.plugins import Event, LeaseLost, PluginContext, Subscriber
from frepo_core.plugins.hang_watch import HangWatch

from .masking import Mask
from .parked_events import end_retry, fetch_requested, park_event
from .queries import read_events
from .subscriptions import Cursor, adopt_cursor, save_cursor

# Seconds after each failed try: 12 tries in 24 hours. After the last one, the event is parked.
PAUSES = (10, 30, 60, 180, 600, 1800, 3600, 7200, 14400, 21600, 36000)
TRIES = len(PAUSES) + 1
# After a crash, the events of at most this time are delivered again. Each save is a write.
SAVE_SECONDS = 0.5
# If none of the events was for this subscriber, a crash only makes it read them again.
IDLE_SAVE_SECONDS = 60.0
PARKED_SECONDS = 10.0
BATCH = 200


class Delivery:
    """Delivers to one subscriber. One thread calls `step` again and again while this process leads."""

    def __init__(
        self,
        database: Database,
        subscriber: Subscriber,
        context: PluginContext,
        *,
        mask: Mask,
        current_epoch: Callable[[], int],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`current_epoch` returns the epoch under which this process leads at the moment, else 0."""
        self.name = subscriber.name
        self._database = database
        self._subscriber = subscriber
        self._context = context
        self._log = context.log  # names the plug-in and its package
        self._mask = mask
        self._current_epoch = current_epoch
        self._monotonic = monotonic
        self._cursor: Cursor | None = None
        self._saved_at = 0.0
        self._has_handled = False  # since the last save
        self._parked_at = -math.inf  # when parked events were looked for
        self._try_at = -math.inf  # the latest time for the next try, by the clock that cannot be set

    @property
    def position(self) -> int:
        """The position of the last event that is done; -1 before the first step, although the database may have one."""
        return -1 if self._cursor is None else self._cursor.position

    @property
    def error(self) -> str | None:
        """The error of the last call of the subscriber, until the event is done."""
        return None if self._cursor is None else self._cursor.error

    def step(self, epoch: int) -> float:
        """Deliver the waiting events. Return the maximum seconds until the next call.

        Raises `LeaseLost` if another worker leads.
        """
        cursor = self._cursor
        if cursor is None or cursor.epoch != epoch:
            cursor = self._adopt(epoch)
        if self._monotonic() >= self._parked_at + PARKED_SECONDS:
            self._retry_parked(epoch)
            self._parked_at = self._monotonic()
        pause = self._seconds_to_next_try(cursor)
        if pause <= 0:
            pause = self._deliver(cursor)
        return min(pause, self._save_if_due(cursor), PARKED_SECONDS)

    def finish(self) -> None:
        """Store how far the delivery has come, because another worker may lead next."""
        if self._cursor is not None and self._cursor.position != self._cursor.saved:
            self._save(self._cursor)

    def _adopt(self, epoch: int) -> Cursor:
        cursor = self._cursor = adopt_cursor(self._database, self.name, epoch, self._cursor)
        self._try_at = self._monotonic() + _pause_after(cursor.tries)
        return cursor

    def _deliver(self, cursor: Cursor) -> float:
        """Deliver until there are no more events, one fails, or this process leads no longer."""
        while events := self._read(cursor.position):
            now = self._database.now() if self._subscriber.delay else None
            for event in events:
                if self._current_epoch() != cursor.epoch:
                    return 0.0
                if not self._subscriber.wants(event.kind):
                    _advance(cursor, event)
                elif now and (pause := self._seconds_to_age(event, now)) > 0:
                    return pause
                elif not self._handle(cursor, event):
                    return self._seconds_to_next_try(cursor)
                self._save_if_due(cursor)
        return math.inf

    def _seconds_to_age(self, event: Event, now: datetime) -> float:
        """Return the seconds until the event is as old as the subscriber asks; 0 if a clock that was fast dated it."""
        delay = self._subscriber.delay
        pause = delay - (now - event.at).total_seconds()
        return pause if 0 < pause <= 2 * delay else 0.0

    def _read(self, position: int) -> Sequence[Event]:
        return read_events(self._database, after=position, since=None, kinds=("*",), limit=BATCH)

    def _handle(self, cursor: Cursor, event: Event) -> bool:
        """Call the subscriber. Return whether the event is done: it was handled, or parked after the last attempt."""
        error = self._call(event)
        if error is None:
            self._has_handled = True
            _advance(cursor, event)
            return True
        cursor.tries += 1
        cursor.error = error
        is_last = cursor.tries >= TRIES
        what = "It is parked; `frepo events:retry` delivers it again" if is_last else "It will be called again"
        self._log.warning(
            "the subscriber %s failed to handle event %d (%s), try %d of %d: %s. %s",
            *(self.name, event.id, event.kind, cursor.tries, TRIES, error, what),
        )
        now = self._database.now()
        if is_last:
            self._store(lambda: park_event(self._database, cursor, event, now))
            _advance(cursor, event)
        else:
            pause = _pause_after(cursor.tries)
            cursor.next_at, self._try_at = now + timedelta(seconds=pause), self._monotonic() + pause
            self._save(cursor)
        return is_last

    def _call(self, event: Event) -> str | None:
        """Call the subscriber; return the error as a text with masked secrets, or None."""
        try:
            with HangWatch(f"the subscriber {self.name} at event {event.id} ({event.kind})", self._log):
                self._subscriber.handle(event, self._context)
        except BaseException as error:  # noqa: BLE001  # a plug-in may raise anything, SystemExit included
            self._log.info("%s", self._mask("".join(traceback.format_exception(error))))
            return self._mask.describe(error)
        return None

    def _seconds_to_next_try(self, cursor: Cursor) -> float:
        """Return the seconds until the failed event may be tried again; 0 if none has failed."""
        if cursor.next_at is None or not cursor.tries:
            return 0.0
        # The database's clock may have been set back since.
        return min((cursor.next_at - self._database.now()).total_seconds(), self._try_at - self._monotonic())

    def _save_if_due(self, cursor: Cursor) -> float:
        """Store the position if the last save is long enough ago. Return the seconds until a save is due."""
        if cursor.position == cursor.saved:
            return math.inf
        pause = self._saved_at + (SAVE_SECONDS if self._has_handled else IDLE_SAVE_SECONDS) - self._monotonic()
        if pause > 0:
            return pause
        self._save(cursor)
        return math.inf

    def _save(self, cursor: Cursor) -> None:
        self._store(lambda: save_cursor(self._database, cursor))

    def _store(self, write: Callable[[], None]) -> None:
        """Write the cursor to the database. If that knows another one, the next step begins with that one."""
        try:
            write()
        except LeaseLost:
            self._cursor = None
            raise
        self._saved_at = self._monotonic()
        self._has_handled = False

    def _retry_parked(self, epoch: int) -> None:
        """Deliver the parked events for which a new try was requested."""
        for row_id, event in fetch_requested(self._database, self.name):
            if self._current_epoch() != epoch:
                return
            if event is None:
                self._log.warning("the subscriber %s gets a parked event no more: it was pruned since", self.name)
            error = None if event is None else self._call(event)
            if error is not None:
                self._log.warning("the subscriber %s failed to handle a parked event again: %s", self.name, error)
            end_retry(self._database, row_id, epoch, error)


def _pause_after(tries: int) -> float:
    """Return the seconds between a failed try and the next one."""
    return PAUSES[min(max(tries, 1), len(PAUSES)) - 1]


def _advance(cursor: Cursor, event: Event) -> None:
    """Move the cursor past an event that is done."""
    cursor.position, cursor.tries, cursor.next_at, cursor.error = event.position, 0, None, None
