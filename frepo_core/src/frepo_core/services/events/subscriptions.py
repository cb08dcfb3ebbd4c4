"""How far each subscriber has come: the rows of the table `subscription`."""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from frepo_core.db import Database
from frepo_core.db.worker_models import Subscription
from frepo_core.plugins import LeaseLost

from .numbering import find_last_position

_CURSOR = select(Subscription.position, Subscription.epoch, Subscription.tries, Subscription.next_at).where(
    Subscription.name == bindparam("name")
)


@dataclass(kw_only=True)
class Cursor:
    """How far the delivery to one subscriber has come, in memory; `save_cursor` writes it to the database.

    `position` is that of the last event that is done. `tries`, `next_at` and `error` are about the next one.
    """

    name: str
    epoch: int
    position: int
    tries: int = 0
    next_at: datetime | None = None
    error: str | None = None


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

    `earlier` is the cursor of this process. If nobody has led since, it may be further than the database knows.
    Raises `LeaseLost` if a later leader has the subscription.
    """
    database.execute(
        update(Subscription).where(Subscription.name == name, Subscription.epoch < epoch).values(epoch=epoch)
    )
    cursor = _find(database, name)
    if cursor.epoch != epoch:
        raise LeaseLost(f"another worker delivers to {name}")
    if earlier is not None and earlier.epoch == epoch - 1 and earlier.position > cursor.position:
        return Cursor(name=name, epoch=epoch, position=earlier.position)
    return cursor


def save_cursor(database: Database, cursor: Cursor) -> None:
    """Store how far a subscriber has come. Raises `LeaseLost`, and changes nothing, if another worker leads."""
    saved = database.execute(
        update(Subscription)
        .where(Subscription.name == cursor.name, Subscription.epoch == cursor.epoch)
        .values(position=cursor.position, tries=cursor.tries, next_at=cursor.next_at, error=cursor.error)
    )
    if not saved:
        raise LeaseLost(f"another worker delivers to {cursor.name}")


def _find(database: Database, name: str) -> Cursor:
    with database.reading() as session:
        row = session.execute(_CURSOR, {"name": name}).one()
        return Cursor(name=name, epoch=row.epoch, position=row.position, tries=row.tries, next_at=row.next_at)
