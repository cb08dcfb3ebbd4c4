"""The order in which blobs are verified. An index finds the next ones, however many there are."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, func, literal, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Blob


@dataclass(frozen=True, kw_only=True)
class Queue:
    """The blobs to check: ids up to `newest`, so no later ones, and not checked since `cutoff`.

    Those that are known to be damaged are due if they were not checked since `started`.
    """

    newest: int
    cutoff: datetime
    started: datetime

    def is_due(self) -> ColumnElement[bool]:
        """Return the condition. Make a new one for each query, so that no blob that was checked is due again."""
        is_old = or_(Blob.verified_at.is_(None), Blob.verified_at < self.cutoff, Blob.verified_at > utc_now())
        may_be_right_again = and_(Blob.damaged_at.is_not(None), Blob.verified_at < self.started)
        return and_(Blob.id <= self.newest, or_(is_old, may_be_right_again))

    def parts(self) -> Sequence[Sequence[ColumnElement[bool]]]:
        """Return the parts in which blobs are read, and the conditions of each: an index finds each in its order.

        First those that are due because they are damaged, then dates in the future, then the oldest.
        """
        now = utc_now()
        # An expression, because the few damaged ones are to be found by the index on `damaged_at`.
        read_at = func.coalesce(Blob.verified_at, literal(self.started, Blob.verified_at.type))
        is_recent = or_(and_(read_at >= self.cutoff, read_at < self.started), read_at > now)
        return (
            [and_(Blob.damaged_at.is_not(None), is_recent)],
            [
                and_(Blob.verified_at > now, Blob.damaged_at.is_(None)),
                and_(Blob.verified_at.is_(None), Blob.created_at > now),
            ],
            [Blob.verified_at < self.cutoff, and_(Blob.verified_at.is_(None), Blob.created_at <= now)],
        )

    def next(self, session: Session, failing: Collection[str], count: int) -> list[Blob]:
        """Return the next `count` blobs. The number of rows that are read for them does not depend on all blobs."""
        found: list[Blob] = []
        for part in self.parts():
            rows: list[Blob] = []
            for condition in part if len(found) < count else ():
                query = select(Blob).where(condition, Blob.id <= self.newest, Blob.storage.not_in(failing))
                order = (Blob.verified_at, Blob.created_at) if len(part) > 1 else (Blob.damaged_at,)
                rows += session.scalars(query.order_by(*order, Blob.id).limit(count - len(found)))
            rows.sort(key=lambda row: (row.verified_at or row.created_at, row.id))
            found += rows[: count - len(found)]
        return found
