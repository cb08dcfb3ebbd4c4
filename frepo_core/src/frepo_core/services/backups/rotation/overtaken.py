"""Finds uploads that their clients gave up and that end late: newer versions of the same client arrived before them.

Each upload notes the last number of its collection when it begins. No clock decides. The greatest note of the accepted
versions is kept for each client, as these versions may have been removed since.
"""

from datetime import timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, CollectionSender
from frepo_core.domain.access import ends_with_upload
from frepo_core.domain.identity import Identity

from ..trash.removal import incarnation_of

# No upload takes that long.
KEPT = timedelta(days=90)


def is_overtaken(session: Session, collection: Collection, noted: int, by: Identity) -> bool:
    """Return whether an accepted version of the same client began later than the upload that noted this number.

    The collection is locked. The console is no client: several people use it.
    """
    if not by.token:
        return False
    sender = _find(session, collection, by)
    return sender is not None and sender.noted > noted


def note_accepted(session: Session, collection: Collection, noted: int, by: Identity) -> None:
    """Remember what the upload of an accepted version had noted. The collection is locked."""
    if not by.token or ends_with_upload(by):  # a token for one upload sends no other
        return
    now, sender = utc_now(), _find(session, collection, by)
    if sender is None:
        _clear(session)
        session.add(
            CollectionSender(incarnation=incarnation_of(collection), client=by.client, noted=noted, noted_at=now)
        )
    elif noted > sender.noted:
        sender.noted, sender.noted_at = noted, now


def _find(session: Session, collection: Collection, by: Identity) -> CollectionSender | None:
    return session.get(CollectionSender, (incarnation_of(collection), by.client))


def _clear(session: Session) -> None:
    """Delete what nobody needs any more: of tokens that send nothing, and of collections that were deleted."""
    session.execute(delete(CollectionSender).where(CollectionSender.noted_at < utc_now() - KEPT))
