"""What a run says about a version: only about one that the same client has sent."""

from datetime import datetime
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Collection, Content, File, Version, VersionCheck
from frepo_core.domain.backups.runs import RUN, NewRun, may_condemn
from frepo_core.domain.structs import struct

from ..versions.version_checks import BROKEN, NewCheck

VOUCHED = "Each stage of the run ended with status 0, says the client that sent it"


@struct
class VersionResult:
    """A result to record about a version."""

    version_id: str
    check: NewCheck


def find_version(session: Session, collection: Collection, run: NewRun, client: str, now: datetime) -> Version | None:
    """Return the newest version that the run names; if it names none and failed, the one that arrived since its start.

    `client` is the key of the first token of the sender's chain of rotations. The collection is locked.
    """
    if run.stored_nothing:
        return None
    query: Select[Any] = select(Version).where(Version.collection_id == collection.id, Version.sent_by == client)
    if run.version is not None:
        query = query.where(Version.number == run.version)
    if run.sha256 is not None:
        query = query.join(File, File.id == Version.file_id).join(Content, Content.id == File.content_id)
        query = query.where(Content.digest == run.sha256)
    if run.version is None and run.sha256 is None:
        since = run.earliest_arrival(now)
        if since is None or run.outcome != "failed":
            return None
        query = query.where(Version.created_at >= since, Version.number == collection.last_number)
    newest: Version | None = session.scalar(query.order_by(Version.number.desc()).limit(1))
    return newest


def find_result(
    session: Session, collection: Collection, run: NewRun, version: Version | None, reason: str, now: datetime
) -> VersionResult | None:
    """Return what a run says about its version, None if that is nothing new.

    One that failed condemns only the newest version, within a day of its arrival. What was condemned stays so until a
    person releases it: a later run does not vouch for it.
    """
    if version is None:
        return None
    is_newest = version.number == collection.last_number
    if run.outcome == "failed" and may_condemn(is_newest=is_newest, arrived_at=version.created_at, now=now):
        check = NewCheck(name=RUN, outcome=BROKEN, message=f"The run failed: {reason}")
    elif run.is_proven:
        check = NewCheck(name=RUN, outcome="good", message=VOUCHED, covers="content")
    else:
        return None
    known = session.get(VersionCheck, (version.id, RUN))
    if known is not None and known.is_of_service and known.outcome in {BROKEN, check.outcome}:
        return None
    return VersionResult(version_id=version.id, check=check)
