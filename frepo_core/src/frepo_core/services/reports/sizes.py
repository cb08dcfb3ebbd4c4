"""Measures how many bytes clients have sent and how many are stored, which is less if contents are equal."""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import OBJECT_SIZE, Collection, Content, File, Sample, StoredObject, TrashEntry
from frepo_core.domain.structs import struct

from ..content.objects.states import ENDED
from ..content.objects.uses import is_second
from ..content.storages.backends import Backends

# Up to this many files are added up at each request, which takes milliseconds. Beyond, the last sample is used.
MEASURED_AT_ONCE = 20_000


@struct
class Sizes:
    """What was stored at a time (UTC, aware).

    `stored` (bytes) is the size of the blobs, as they are encoded, and of the bytes that an encoding has replaced until
    these are deleted. `sent` (bytes) is what clients have sent for the versions and files that
    exist, and for the versions in the trash: equal contents count each time. `trash` (bytes) is the part in the trash.
    """

    at: datetime
    blobs: int
    stored: int
    sent: int
    trash: int


def measure_sizes(session: Session, backends: Backends, now: datetime) -> Sizes:
    """Add up the sizes of all blobs, versions, files and what is in the trash. It takes longer the more there are."""
    stored_of_first = (~is_second(backends), StoredObject.key.is_not(None), StoredObject.state.not_in(ENDED))
    blobs, stored = session.execute(
        select(func.count(StoredObject.slot), func.coalesce(func.sum(OBJECT_SIZE), 0)).where(*stored_of_first)
    ).one()
    versions = session.scalar(select(func.coalesce(func.sum(Collection.stored_size + Collection.quarantined_size), 0)))
    plain = select(func.coalesce(func.sum(Content.size), 0)).join(File, File.content_id == Content.id)
    files = session.scalar(plain.where(File.kind == "plain"))
    trash = int(session.scalar(select(func.coalesce(func.sum(TrashEntry.size), 0))) or 0)
    sent = int(versions or 0) + int(files or 0) + trash
    return Sizes(at=now, blobs=blobs, stored=int(stored), sent=sent, trash=trash)


def read_sizes(session: Session, backends: Backends, now: datetime, *, least: int = 0) -> Sizes:
    """Return the sizes now, or those of the last sample if there are too many files to add up.

    `least` is how many files there are at least; more than `MEASURED_AT_ONCE` need not be counted.
    """
    if least > MEASURED_AT_ONCE or _has_many_files(session):
        sampled = select(Sample).where(Sample.collection_id.is_(None), Sample.sent.is_not(None))
        row = session.scalar(sampled.order_by(Sample.at.desc()).limit(1))
        if row is not None:
            return Sizes(at=row.at, blobs=row.blobs, stored=row.size, sent=row.sent or 0, trash=row.trash or 0)
    return measure_sizes(session, backends, now)


def _has_many_files(session: Session) -> bool:
    files = select(File.id).limit(MEASURED_AT_ONCE + 1).subquery()
    return (session.scalar(select(func.count()).select_from(files)) or 0) > MEASURED_AT_ONCE
