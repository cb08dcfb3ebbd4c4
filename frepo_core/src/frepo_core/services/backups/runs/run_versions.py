"""Finds the version that a run is about: only one that the same client has sent."""

from datetime import datetime
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Blob, Collection, File, Version
from frepo_core.domain.backups.runs import NewRun


def find_version(session: Session, collection: Collection, run: NewRun, client: str, now: datetime) -> Version | None:
    """Return the newest version that the run names; if it names none and failed, the one that arrived since its start.

    `client` is the key of the first token of the sender's chain of rotations. The collection is locked.
    """
    query: Select[Any] = select(Version).where(Version.collection_id == collection.id, Version.sent_by == client)
    if run.version is not None:
        query = query.where(Version.number == run.version)
    if run.sha256 is not None:
        query = query.join(File, File.id == Version.file_id).join(Blob, Blob.id == File.blob_id)
        query = query.where(Blob.digest == run.sha256)
    if run.version is None and run.sha256 is None:
        since = run.earliest_arrival(now)
        if since is None or run.outcome != "failed":
            return None
        query = query.where(Version.created_at >= since, Version.number == collection.last_number)
    newest: Version | None = session.scalar(query.order_by(Version.number.desc()).limit(1))
    return newest
