"""Finds uploads that their clients gave up and that end late: newer versions of the same client arrived before them.

Each upload notes the last number of its collection when it begins. The greatest note of the accepted versions is kept
for each client, as these versions may have been removed since. That uploads of a client overlap is no sign that it gave
one up: its connection has ended, or it sent the same content again after it had been silent.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, bindparam, delete, select, update
from sqlalchemy.orm import Session

from frepo_core.db.models import Base, Collection, CollectionSender, File, Version
from frepo_core.db.prepared_statements import change, fetch
from frepo_core.domain.backups.senders import after_upload, program_of
from frepo_core.domain.identity import Identity
from frepo_core.domain.structs import struct

from ...base.records import BlobRecord
from ..rows.removal import incarnation_of

# No upload takes that long.
KEPT = timedelta(days=90)
# Each upload of a version reads a row and writes it: so without a model.
_SENDER = Base.metadata.tables[CollectionSender.__tablename__]
_IS_IT = (_SENDER.c.incarnation == bindparam("collection")) & (_SENDER.c.client == bindparam("by"))
_FIND = select(_SENDER).where(_IS_IT)
_NOTE = (
    update(_SENDER)
    .where(_IS_IT)
    .values(noted=bindparam("number"), noted_at=bindparam("at"), seen=bindparam("seen_now"))
)


@struct
class Sending:
    """How the content of an upload was sent.

    `noted` is the last number of its collection when it began, at `began_at`. Its client was silent for the first time
    at `silent_since`; None: never. `is_gone` returns whether its connection has ended, so that it gets no answer.
    `host` is the name of the client's host, empty if it is not known.
    """

    noted: int
    began_at: datetime
    silent_since: datetime | None = None
    is_gone: Callable[[], bool] = lambda: False
    host: str = ""


def find_sender(session: Session, collection: Collection, by: Identity) -> Row[Any] | None:
    """Return what is known about the accepted versions of this client; None without any.

    The collection is locked. `frepo` is no client: several people use it.
    """
    if not by.token:
        return None
    rows = fetch(session.connection(), _FIND, {"collection": incarnation_of(collection), "by": by.client})
    return rows[0] if rows else None


def is_given_up(
    session: Session,
    collection: Collection,
    sender: Row[Any],
    blob: BlobRecord,
    sending: Sending,
    by: Identity,
) -> bool:
    """Return whether there is a sign that its client gave up this upload, which newer versions have overtaken."""
    if sending.is_gone():
        return True
    silent = sending.silent_since
    if silent is None or sender.noted_at < silent:
        return False
    contents = select(File.id).where(File.content_id == blob.id)
    again = select(Version.id).where(Version.collection_id == collection.id, Version.number > sending.noted)
    again = again.where(Version.sent_by == by.client, Version.file_id.in_(contents))
    return session.scalar(again.limit(1)) is not None


def note_accepted(
    session: Session, collection: Collection, sender: Row[Any] | None, sending: Sending, by: Identity
) -> None:
    """Remember what the upload of an accepted version had noted, and from which program and host it came.

    `sender` is what `find_sender` has found.
    """
    if not by.token:
        return
    known = None if sender is None else sender.seen
    seen = after_upload(known, program_of(by.user_agent), sending.host, sending.began_at.date())
    if sender is None:
        if by.ends_with_upload:  # it sends no other
            return
        _clear(session, sending.began_at)
        incarnation = incarnation_of(collection)
        noted = {"noted": sending.noted, "noted_at": sending.began_at, "seen": seen}
        session.add(CollectionSender(incarnation=incarnation, client=by.client, **noted))
    elif (sending.noted, sending.began_at) > (sender.noted, sender.noted_at):
        its = {"collection": sender.incarnation, "by": sender.client}
        values = {**its, "number": sending.noted, "at": sending.began_at, "seen_now": seen}
        change(session.connection(), _NOTE, values)


def _clear(session: Session, now: datetime) -> None:
    """Delete what nobody needs any more: of tokens that send nothing, and of collections that were deleted."""
    session.execute(delete(CollectionSender).where(CollectionSender.noted_at < now - KEPT))
