"""Reads what reports are made from, with a number of statements that does not depend on the number of collections."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session, undefer

from frepo_core.db.models import Collection, Content, Event, File, Version, VersionCheck
from frepo_core.domain.backups.verdicts import RESTORE
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.structs import struct
from frepo_core.services.backups.rows.newest_good import newest_good
from frepo_core.services.backups.versions.version_checks import GOOD, DetailedCheck, detailed_check

from . import nights
from .arrivals import Arrival, read_arrivals
from .models import Gap, Nights

# What people do against a backup, or to undo that. What the service does by itself is left out.
ACTS = (
    EventKind.VERSION_RELEASED,
    EventKind.VERSION_DELETED,
    EventKind.VERSION_RESTORED,
    EventKind.VERSION_UNPINNED,
    EventKind.TRASH_ENDED,
    EventKind.COLLECTION_DELETED,
    EventKind.COLLECTION_RESTORED,
    EventKind.COLLECTION_EDITED,
    EventKind.COLLECTION_HELD,
    EventKind.COLLECTION_HOLD_ENDED,
    EventKind.STORAGE_ADOPTED,
    EventKind.STORAGE_PROMOTED,
)
MOST_GAPS = 20
# A clock of a client may be fast: a backup that came a little before the period can be for its first night.
BEFORE = timedelta(hours=1)


@struct
class Counted:
    """The nights of a collection, None if nothing is expected of it, and its good backups."""

    row: Collection
    nights: Nights | None
    arrivals: Sequence[Arrival]

    @property
    def unexpected(self) -> int:
        """The number of good backups of a collection of which none are expected."""
        return 0 if self.row.expected_every else sum(1 for one in self.arrivals if one.is_good)


def read_known_since(session: Session) -> datetime | None:
    """Return the time of the oldest event that is kept."""
    return session.scalar(select(func.min(Event.at)))


def count_all(session: Session, since: datetime, until: datetime, known_since: datetime | None) -> list[Counted]:
    """Return the nights of all collections, by name. Three statements."""
    arrivals = read_arrivals(session, since - BEFORE, until)
    rows = session.scalars(select(Collection).order_by(Collection.filename, Collection.id))
    return [_count(row, arrivals.get(row.id, ()), since, until, known_since) for row in rows]


def _count(
    row: Collection, found: Sequence[Arrival], since: datetime, until: datetime, known_since: datetime | None
) -> Counted:
    # Another collection may have had the id before.
    arrivals = [one for one in found if one.at >= row.created_at]
    if row.expected_every is None:
        return Counted(row=row, nights=None, arrivals=[one for one in arrivals if one.at >= since])
    begin = max(since, row.created_at, row.expected_since or since, known_since or until)
    counted = nights.count_nights(
        row.expected_every,
        None if row.grace is None else timedelta(seconds=row.grace),
        [one.at for one in arrivals if one.is_good],
        nights.Period(since=since, until=until, begin=begin),
    )
    return Counted(row=row, nights=None if counted is None else _model(counted), arrivals=arrivals)


def _model(counted: nights.Nights) -> Nights:
    gaps = [Gap(since=gap.since, until=gap.until, missed=gap.missed) for gap in counted.gaps[-MOST_GAPS:]]
    return Nights(expected=counted.expected, good=counted.good, gaps=gaps)


def read_newest_good_sizes(session: Session) -> Mapping[str, tuple[int, int]]:
    """Return the number and the size in bytes of the newest good version of each collection that has one."""
    newest = select(Collection.id, newest_good(Version.number).label("number")).subquery()
    is_it = (newest.c.id == Version.collection_id) & (newest.c.number == Version.number)
    query = select(Version.collection_id, Version.number, Content.size).join(newest, is_it)
    query = query.join(File, File.id == Version.file_id).join(Content, Content.id == File.content_id)
    return {row.collection_id: (row.number, row.size) for row in session.execute(query)}


def read_proofs(session: Session) -> Mapping[str, DetailedCheck]:
    """Return the last good restore test of each collection whose tested version is still there."""
    query = select(VersionCheck, Version.collection_id, Version.number)
    query = query.join(Version, Version.id == VersionCheck.version_id).options(undefer(VersionCheck.details))
    query = query.where(VersionCheck.name == RESTORE, VersionCheck.outcome == GOOD).order_by(VersionCheck.at)
    return {row[1]: detailed_check(*row) for row in session.execute(query)}


def read_acts(session: Session, since: datetime, until: datetime, most: int) -> Sequence[Event]:
    """Return the newest events about what people did, the oldest first."""
    query = select(Event).where(Event.kind.in_(ACTS), Event.at >= since, Event.at < until)
    query = query.where(Event.position.is_not(None), Event.actor.not_like("system:%"))
    return session.scalars(query.order_by(Event.position.desc()).limit(most)).all()[::-1]
