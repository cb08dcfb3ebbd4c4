"""How far each subscriber has come, and the end of subscriptions: the rows of the table `subscription`."""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Update, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import ParkedEvent, Subscription
from frepo_core.domain.structs import struct
from frepo_core.errors import NotFoundError
from frepo_core.plugins import LeaseLost

from .numbering import find_last_position

_CURSOR = select(Subscription.position, Subscription.epoch, Subscription.tries, Subscription.next_at).where(
    Subscription.name == bindparam("name")
)


@dataclass(kw_only=True)
class Cursor:
    """How far the delivery to one subscriber has come, in memory; `save_cursor` writes it to the database.

    `position` is that of the last event that is done, `saved` the one in the database. `tries`, `next_at` and `error`
    are about the next one.
    """

    name: str
    epoch: int
    position: int
    saved: int
    tries: int = 0
    next_at: datetime | None = None
    error: str | None = None


@struct
class SubscriptionRecord:
    """A subscription: the last event that is done, the number of events behind it, and the number of parked ones.

    `tries`, `next_at` and `error` are about the next event.
    """

    name: str
    position: int
    behind: int
    parked: int
    tries: int
    next_at: datetime | None
    error: str | None


def list_subscriptions(database: Database) -> Sequence[SubscriptionRecord]:
    """Return all subscriptions by name, also those of plug-ins that are not installed any more."""
    last = find_last_position(database)
    parked = select(func.count()).where(ParkedEvent.subscription == Subscription.name).scalar_subquery()
    with database.reading() as session:
        return [
            SubscriptionRecord(
                name=row.name,
                position=row.position,
                behind=max(0, last - row.position),
                parked=count,
                tries=row.tries,
                next_at=row.next_at,
                error=row.error,
            )
            for row, count in session.execute(select(Subscription, parked).order_by(Subscription.name))
        ]


def find_subscription(database: Database, name: str) -> SubscriptionRecord:
    """Return a subscription. Raises `NotFoundError` with the existing names."""
    found = {each.name: each for each in list_subscriptions(database)}
    if name not in found:
        message = f"No subscription has the name {name!r}; there are: {', '.join(found) or 'none'}"
        raise NotFoundError(message, remedy="`frepo events:subscriptions` lists the subscriptions")
    return found[name]


def delete_subscription(database: Database, name: str) -> None:
    """Delete a subscription and its parked events. A worker that delivers to it saves no position any more."""

    def remove(session: Session) -> None:
        session.execute(delete(ParkedEvent).where(ParkedEvent.subscription == name))
        session.execute(delete(Subscription).where(Subscription.name == name))

    database.write(remove)


def create_subscriptions(database: Database, names: Iterable[str]) -> None:
    """Create the rows of new subscribers. They get the events that happen from now on."""
    with database.reading() as session:
        known = set(session.scalars(select(Subscription.name)))
    for name in sorted(set(names) - known):
        values = {"name": name, "position": find_last_position(database), "epoch": 0, "tries": 0}
        with contextlib.suppress(IntegrityError):  # another process was faster
            database.execute(insert(Subscription).values(values | {"created_at": database.now()}))


def adopt_cursor(database: Database, name: str, epoch: int, earlier: Cursor | None) -> Cursor:
    """Take over a subscription as the leader of this epoch. Updates of earlier leaders are refused from then on.

    `earlier` is the cursor of this process. If no other process has led since, it may be ahead of the database.
    Raises `LeaseLost` if a later leader has the subscription.
    """
    database.execute(
        update(Subscription).where(Subscription.name == name, Subscription.epoch < epoch).values(epoch=epoch)
    )
    cursor = _find(database, name)
    if cursor.epoch != epoch:
        raise LeaseLost(f"another worker delivers to {name}")
    if earlier is not None and earlier.epoch == epoch - 1 and earlier.position > cursor.position:
        return Cursor(name=name, epoch=epoch, position=earlier.position, saved=cursor.position)
    return cursor


def update_of(cursor: Cursor) -> Update:
    """Return the update of a subscription by its cursor. It changes no row if another worker leads, or if the database
    knows another position than the cursor: then it was restored meanwhile.
    """
    is_own = (Subscription.epoch == cursor.epoch) & (Subscription.position == cursor.saved)
    return update(Subscription).where(Subscription.name == cursor.name, is_own)


def save_cursor(database: Database, cursor: Cursor) -> None:
    """Store how far a subscriber has come. Raises `LeaseLost`, and changes nothing, if another worker leads."""
    saved = database.execute(
        update_of(cursor).values(
            position=cursor.position, tries=cursor.tries, next_at=cursor.next_at, error=cursor.error
        )
    )
    if not saved:
        raise LeaseLost(f"another worker delivers to {cursor.name}")
    cursor.saved = cursor.position


def _find(database: Database, name: str) -> Cursor:
    with database.reading() as session:
        row = session.execute(_CURSOR, {"name": name}).one()
        return Cursor(
            name=name,
            epoch=row.epoch,
            position=row.position,
            saved=row.position,
            tries=row.tries,
            next_at=row.next_at,
        )
