"""The brake on checks that condemn versions: a restore host that is broken must not condemn a fleet."""

from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Event, Version, VersionCheck
from frepo_core.domain.event_kinds import EventKind

PERIOD = timedelta(days=1)
# One check may condemn versions of this many collections within a day, or of this share of those that it looked at.
COLLECTIONS = 3
SHARE = 0.2


def is_too_many(session: Session, check: str, collection_id: str) -> bool:
    """Return whether the check must not condemn a version of this collection, too."""
    start = utc_now() - PERIOD
    query = select(Event.collection_id, Event.data).where(
        Event.kind == EventKind.VERSION_CONDEMNED.value, Event.at > start
    )
    condemned = {found for found, data in session.execute(query) if data.get("check") == check} - {collection_id}
    if len(condemned) < COLLECTIONS:
        return False
    looked_at = select(func.count(Version.collection_id.distinct())).join(
        VersionCheck, VersionCheck.version_id == Version.id
    )
    number = session.scalar(looked_at.where(VersionCheck.name == check, VersionCheck.at > start)) or 0
    return len(condemned) >= number * SHARE
