"""Numbers committed events, so that readers can follow them without missing one.

An event gets its id when it is inserted, and another transaction may commit before it. Readers that followed the ids
would skip the event that becomes visible late. So the worker that leads gives each visible event the next `position`.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlalchemy import BigInteger, case, exists, func, literal, or_, select, update
from sqlalchemy.orm import aliased

from frepo_core.db import Database
from frepo_core.db.models import Event, Lease, Subscription

from ..base.lease import LEADER
from .chain import COLUMNS, canonical_form, digest_of, next_link

BATCH = 500
# How often commits of other processes are looked for, and the shortest time between two numberings, in seconds.
POLL_SECONDS = 1.0
PAUSE_SECONDS = 0.2
_UNNUMBERED = select(*COLUMNS).where(Event.position.is_(None)).order_by(Event.id).limit(BATCH)
# If all events were deleted, the positions that subscribers know must not be used again.
LAST_POSITION = select(func.max(Event.position), select(func.max(Subscription.position)).scalar_subquery())
_PREVIOUS = aliased(Event)
# The chain goes on from the link of the last event.
LAST_LINK = (
    select(_PREVIOUS.link)
    .where(_PREVIOUS.position == select(func.max(Event.position)).scalar_subquery())
    .scalar_subquery()
)
_LAST = LAST_POSITION.add_columns(LAST_LINK)


def find_last_position(database: Database) -> int:
    """Return the highest position that an event ever had, as far as is known; 0 if there was none."""
    return max(position or 0 for position in database.fetch_rows(LAST_POSITION)[0])


def find_last_event(database: Database) -> int:
    """Return the highest id of the committed events; 0 without events."""
    with database.reading() as session:
        return session.scalar(select(func.max(Event.id))) or 0


def find_position(database: Database, event_id: int) -> int | None:
    """Return the highest position of the events up to an id; None as long as one of them has no position."""
    with database.reading() as session:
        found = select(func.count(Event.id), func.count(Event.position), func.max(Event.position))
        events, numbered, position = session.execute(found.where(Event.id <= event_id)).one()
        return None if numbered < events else int(position or 0)


def number_events(database: Database, epoch: int) -> int:
    """Give positions, and their links in the chain, to at most `BATCH` events that have none; return how many.

    It is one statement, so no lock is held if the process is stopped. It changes nothing if another worker leads: the
    epoch differs then. Raises `IntegrityError` if another worker numbers at the same moment.
    """
    rows = database.fetch_rows(_UNNUMBERED)
    if not rows:
        return 0
    ids = [row.id for row in rows]
    last_row: Sequence[Any] = database.fetch_rows(_LAST)[0]
    of_events, of_subscriptions, link = last_row
    last = max(of_events or 0, of_subscriptions or 0)
    runs = list(_find_runs(ids))
    positions = [
        (Event.id.between(first, end), Event.id + literal(last + place - first, BigInteger()))
        for first, end, place in runs
    ]
    leads = exists(select(Lease.name).where(Lease.name == LEADER, Lease.epoch == epoch))
    return database.execute(
        update(Event)
        .where(or_(*(is_in_run for is_in_run, _ in positions)), Event.position.is_(None), leads)
        .values(position=case(*positions), link=case(_links(rows, last, link or ""), value=Event.id))
        .execution_options(synchronize_session=False)
    )


def _links(rows: Sequence[Any], last: int, before: str) -> dict[int, str]:
    """Return the link of each event by its id: they follow the event at the position `last`, whose link is `before`."""
    links: dict[int, str] = {}
    for position, row in enumerate(rows, start=last + 1):
        links[row.id] = before = next_link(before, digest_of(canonical_form(row, position)))
    return links


def _find_runs(ids: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield the first and the last id of each run of consecutive ids, and the place of the first one, from 1.

    Most ids are consecutive, and a run is one condition in the statement instead of one for each id.
    """
    start = 0
    for place, each in enumerate(ids, start=1):
        if place == len(ids) or ids[place] != each + 1:
            yield ids[start], each, start + 1
            start = place


class Numbering:
    """The leader's task that numbers events. One thread calls `step` again and again."""

    def __init__(self, database: Database, on_numbered: Callable[[], None]) -> None:
        """`on_numbered` is called when there are new events to deliver."""
        self._database = database
        self._on_numbered = on_numbered
        self._ended_at = 0.0

    def step(self, epoch: int) -> float:
        """Number the new events. Return the maximum seconds until the next call.

        Waits a moment if it was called just before: many commits are numbered by one write.
        """
        time.sleep(min(max(0.0, self._ended_at + PAUSE_SECONDS - time.monotonic()), PAUSE_SECONDS))
        while number_events(self._database, epoch):
            self._on_numbered()
        self._ended_at = time.monotonic()
        return POLL_SECONDS

    def finish(self) -> None:
        """Do nothing: there is nothing to store."""
