"""Gives the newest version of a collection a verdict that the demonstration cannot wait for."""

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, Version, VersionCheck
from frepo_core.domain.backups.verdicts import Verdict

_MESSAGE = "The check lacked time and will be tried again"


def leave_unjudged(database: Database, collection_id: str) -> None:
    """Let the checks of the newest version wait, as if it were large. The job of the service soon judges it."""

    def work(session: Session) -> None:
        newest = session.scalars(
            select(Version).where(Version.collection_id == collection_id).order_by(Version.number.desc()).limit(1)
        ).one()
        collection = session.get_one(Collection, collection_id)
        newest.verdict, newest.verdict_reason, newest.pending_since = Verdict.PENDING, _MESSAGE, newest.created_at
        size = newest.file.blob.size
        collection.versions_count -= 1
        collection.stored_size -= size
        collection.pending_count += 1
        collection.pending_size += size
        checks = update(VersionCheck).where(VersionCheck.version_id == newest.id, VersionCheck.is_of_service)
        session.execute(checks.values(outcome="pending", message=_MESSAGE))

    database.write(work)
