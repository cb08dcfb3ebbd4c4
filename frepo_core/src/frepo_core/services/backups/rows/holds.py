"""The holds of collections, in the database: what may not leave, asked by all that removes versions or ends them."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Collection, TrashEntry
from frepo_core.domain.backups.holds import held_error

from ...base.records.collection_record import hold_of
from .collection_rows import INCARNATION


def require_no_hold(collection: Collection) -> None:
    """Raise `CollectionHeldError` if the collection, whose row is locked, is on hold."""
    if (hold := hold_of(collection)) is not None:
        raise held_error(hold)


def require_none_held(session: Session, entries: Sequence[TrashEntry]) -> None:
    """Raise `CollectionHeldError` if the collection of one of these entries of the trash is on hold."""
    of = INCARNATION.in_({entry.incarnation for entry in entries})
    row = session.scalar(select(Collection).where(Collection.held_since.is_not(None), of).limit(1)) if entries else None
    if row is not None:
        require_no_hold(row)


def is_held() -> ColumnElement[bool]:
    """Return the condition that the collection of an entry of the trash is on hold."""
    return TrashEntry.incarnation.in_(select(INCARNATION).where(Collection.held_since.is_not(None)))
