"""The order in which objects are verified. An index finds the next ones, however many there are."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, func, literal, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject

from ...content.objects.states import CURRENT, ObjectState

_BAD = (ObjectState.DAMAGED, ObjectState.MISSING)


@dataclass(frozen=True, kw_only=True)
class Queue:
    """The current objects to check, for which `which` is true: ids up to `newest`, and not read since `cutoff`.

    Those that are known to be damaged are due if they were not read since `started`.
    """

    newest: int
    cutoff: datetime
    started: datetime
    which: ColumnElement[bool]

    def is_due(self) -> ColumnElement[bool]:
        """Return the condition. Make a new one for each query, so that no object that was read is due again."""
        read_at = StoredObject.read_at
        is_old = or_(read_at.is_(None), read_at < self.cutoff, read_at > utc_now())
        is_bad = StoredObject.state.in_(_BAD)
        may_be_right_again = and_(is_bad, read_at < self.started)
        is_read = or_(is_bad, StoredObject.state == ObjectState.PRESENT.value)
        is_current = and_(StoredObject.slot == CURRENT, StoredObject.key.is_not(None), self.which)
        return and_(StoredObject.id <= self.newest, is_current, is_read, or_(is_old, may_be_right_again))

    def parts(self) -> Sequence[Sequence[ColumnElement[bool]]]:
        """Return the parts in which objects are read, and the conditions of each: an index finds each in its order.

        First those that are due because they are damaged, then dates in the future, then the oldest.
        """
        now, read_at = utc_now(), StoredObject.read_at
        # An expression, because the few damaged ones are to be found by their states.
        known_at = func.coalesce(read_at, literal(self.started, read_at.type))
        is_recent = or_(and_(known_at >= self.cutoff, known_at < self.started), known_at > now)
        present = StoredObject.state == ObjectState.PRESENT.value
        parts: list[list[ColumnElement[bool]]] = [
            [and_(StoredObject.state.in_(_BAD), is_recent)],
            [and_(present, read_at > now), and_(present, read_at.is_(None), StoredObject.stored_at > now)],
        ]
        states = (present, *(StoredObject.state == state.value for state in _BAD))
        old = [and_(state, read_at < self.cutoff) for state in states]
        never = [and_(state, read_at.is_(None), StoredObject.stored_at <= now) for state in states]
        return [*parts, [*old, *never]]

    def next(self, session: Session, failing: Collection[str], count: int) -> list[StoredObject]:
        """Return the next `count` objects. The number of rows that are read for them does not depend on all objects."""
        found: list[StoredObject] = []
        for part in self.parts():
            rows: list[StoredObject] = []
            for condition in part if len(found) < count else ():
                query = select(StoredObject).where(condition, StoredObject.id <= self.newest, self.which)
                query = query.where(StoredObject.slot == CURRENT, StoredObject.key.is_not(None))
                query = query.where(StoredObject.storage.not_in(failing))
                order = (StoredObject.read_at, StoredObject.stored_at) if len(part) > 1 else (StoredObject.since,)
                rows += session.scalars(query.order_by(*order, StoredObject.id).limit(count - len(found)))
            rows.sort(key=lambda row: (row.read_at or row.stored_at or row.since, row.id))
            found += rows[: count - len(found)]
        return found
