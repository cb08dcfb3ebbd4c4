"""Finds uploads that their clients gave up and that end late: newer versions of the same client arrived before them.

Each upload notes the last number of its collection when it begins. No clock decides. The greatest note of the accepted
versions is kept for each client, as these versions may have been removed since.
"""

from datetime import datetime, timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session

from frepo_core.db.models import Collection, CollectionSender
from frepo_core.domain.identity import Identity

from ..trash.removal import incarnation_of

# No upload takes that long.
KEPT = timedelta(days=90)


def find_sender(session: Session, collection: Collection, by: Identity) -> CollectionSender | None:
    """Return what is known about the accepted versions of this client; None without any.

    The collection is locked. `frepo` is no client: several people use it.
    """
    return session.get(CollectionSender, (incarnation_of(collection), by.client)) if by.token else None


def note_accepted(
    session: Session, collection: Collection, sender: CollectionSender | None, noted: int, by: Identity, now: datetime
) -> None:
    """Remember what the upload of an accepted version had noted. `sender` is what `find_sender` has found."""
    if not by.token:
        return
    if sender is None:
        if by.ends_with_upload:  # it sends no other
            return
        _clear(session, now)
        session.add(
            CollectionSender(incarnation=incarnation_of(collection), client=by.client, noted=noted, noted_at=now)
        )
    elif noted > sender.noted:
        sender.noted, sender.noted_at = noted, now


def _clear(session: Session, now: datetime) -> None:
    """Delete what nobody needs any more: of tokens that send nothing, and of collections that were deleted."""
    session.execute(delete(CollectionSender).where(CollectionSender.noted_at < now - KEPT))
