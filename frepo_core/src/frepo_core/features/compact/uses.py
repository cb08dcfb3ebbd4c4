"""Reads what uses contents: versions of all collections, the trash and plain files."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Content, File, StoredObject, TrashEntry, Version
from frepo_core.domain.structs import struct
from frepo_core.services.backups.rows.newest_good import read_newest_good
from frepo_core.services.base.batches import batches
from frepo_core.services.content.objects.states import ObjectState
from frepo_core.settings import Settings

from .planned_content import Encoding, Freedom, Standing, find_standing

PAGE = 500


@struct
class Use:
    """All that uses a content, in all collections.

    `is_newest` and `is_newest_good` are those of any collection. `is_held` says that a version is pinned, was restored
    lately, or is locked; `is_pending`, that a check has not ended. `used_at` is when the newest of its versions
    arrived.
    """

    has_plain_file: bool
    is_newest: bool
    is_newest_good: bool
    is_held: bool
    is_pending: bool
    is_damaged: bool
    used_at: datetime


def find_freedom(use: Use, encoding: Encoding, *, before: datetime, newest: Freedom) -> Freedom:
    """Return what may be done with a content. One that arrived after `before` waits, unless it is encoded already.

    What people download most, and what has to stay as it is, is stored raw. `newest` is what may be done with the
    newest versions, as soon as their checks have ended.
    """
    if use.is_damaged:
        return Freedom.NONE
    if use.has_plain_file or use.is_held:
        return Freedom.RAW
    if use.is_newest or use.is_newest_good:
        return Freedom.RAW if use.is_pending else newest
    if use.is_pending or (use.used_at > before and encoding is Encoding.RAW):
        return Freedom.RAW
    return Freedom.DELTA


@struct
class VersionUse:
    """A version that uses a content."""

    id: str
    collection_id: str
    number: int
    created_at: datetime
    is_held: bool
    is_pending: bool


@dataclass(kw_only=True)
class Users:
    """All that uses one content. `trash` has the collection, the number and the end of each entry.

    `ends` are when what holds it ends: locks, and the protection of what was restored.
    """

    versions: list[VersionUse] = field(default_factory=list)
    trash: list[tuple[str, int, datetime]] = field(default_factory=list)
    arrived: list[datetime] = field(default_factory=list)
    standings: list[Standing] = field(default_factory=list)
    ends: list[datetime] = field(default_factory=list)
    is_held_in_trash: bool = False
    has_plain_file: bool = False

    @property
    def collections(self) -> set[str]:
        """The ids of the collections whose versions use it."""
        return {version.collection_id for version in self.versions}

    @property
    def standing(self) -> Standing:
        """That of the best version that uses it."""
        return min(self.standings, default=Standing.GOOD)


@struct
class Heads:
    """The numbers of the newest version and of the newest good one of each collection."""

    newest: dict[str, int]
    good: dict[str, int]


def read_users(session: Session, content_ids: Iterable[int], now: datetime) -> dict[int, Users]:
    """Return what uses each of these contents."""
    users: dict[int, Users] = defaultdict(Users)
    ids = sorted(set(content_ids))
    for page in batches(ids, PAGE):
        _read_versions(session, page, now, users)
        _read_trash(session, page, now, users)
        plain = select(File.content_id).where(File.content_id.in_(page), File.kind != "version")
        for content_id in session.scalars(plain):
            users[content_id].has_plain_file = True
    return users


def _read_versions(session: Session, page: list[int], now: datetime, users: dict[int, Users]) -> None:
    query = (
        select(
            File.content_id,
            Version.id,
            Version.collection_id,
            Version.number,
            Version.created_at,
            Version.pinned,
            Version.protected_until,
            Version.locked_until,
            Version.pending_since,
            Version.verdict,
            Version.quarantined_at,
        )
        .join(File, File.id == Version.file_id)
        .where(File.content_id.in_(page))
    )
    for row in session.execute(query):
        ends = [end for end in (row.protected_until, row.locked_until) if end is not None]
        version = VersionUse(
            id=row.id,
            collection_id=row.collection_id,
            number=row.number,
            created_at=row.created_at,
            is_held=row.pinned or any(end > now for end in ends),
            is_pending=row.pending_since is not None,
        )
        users[row.content_id].versions.append(version)
        users[row.content_id].ends += [end for end in ends if end > now]
        users[row.content_id].arrived.append(row.created_at)
        standing = find_standing(row.verdict, is_quarantined=row.quarantined_at is not None)
        users[row.content_id].standings.append(standing)


def _read_trash(session: Session, page: list[int], now: datetime, users: dict[int, Users]) -> None:
    entry = TrashEntry
    times = (entry.ends_at, entry.created_at, entry.locked_until)
    query = select(
        entry.content_id, entry.incarnation, entry.number, *times, entry.verdict, entry.quarantine_reason
    ).where(entry.content_id.in_(page))
    for row in session.execute(query):
        users[row.content_id].trash.append((row.incarnation, row.number, row.ends_at))
        users[row.content_id].arrived.append(row.created_at)
        standing = find_standing(row.verdict, is_quarantined=row.quarantine_reason is not None)
        users[row.content_id].standings.append(standing)
        users[row.content_id].is_held_in_trash |= row.locked_until is not None and row.locked_until > now
        users[row.content_id].ends += [row.locked_until] if row.locked_until else []


def read_heads(session: Session, collection_ids: Iterable[str]) -> Heads:
    """Return the newest versions of these collections."""
    ids = sorted(set(collection_ids))
    newest, good = dict[str, int](), dict[str, int]()
    for page in batches(ids, PAGE):
        numbers = select(Version.collection_id, func.max(Version.number)).where(Version.collection_id.in_(page))
        newest |= {name: number for name, number in session.execute(numbers.group_by(Version.collection_id))}
        good |= {name: one.number for name, one in read_newest_good(session, page).items()}
    return Heads(newest=newest, good=good)


def describe_use(content: Content, row: StoredObject, users: Users, heads: Heads) -> Use:
    """Return what the rules need to know about the use of a content."""
    return Use(
        has_plain_file=users.has_plain_file,
        is_newest=_is_first_of(heads.newest, users),
        is_newest_good=_is_first_of(heads.good, users),
        is_held=users.is_held_in_trash or any(each.is_held for each in users.versions),
        is_pending=any(each.is_pending for each in users.versions),
        is_damaged=row.state != ObjectState.PRESENT,
        used_at=max(users.arrived, default=content.created_at),
    )


def is_newest(users: Users, heads: Heads) -> bool:
    """Return whether a content is the newest one of a collection, or the newest good one."""
    return _is_first_of(heads.newest, users) or _is_first_of(heads.good, users)


def _is_first_of(numbers: dict[str, int], users: Users) -> bool:
    return any(numbers.get(each.collection_id) == each.number for each in users.versions)


def freedom_of(
    content: Content, row: StoredObject, users: Users, heads: Heads, settings: Settings, now: datetime
) -> Freedom:
    """Return what may be done with a content, by what uses it."""
    use, before = describe_use(content, row, users, heads), now - settings.compact_after
    return find_freedom(use, Encoding(row.encoding), before=before, newest=Freedom(settings.compact_newest))


def read_freedom(session: Session, row: StoredObject, settings: Settings) -> Freedom:
    """Return what may be done with the content of an object now."""
    content_id, now = row.content_id, utc_now()
    content = session.get(Content, content_id) if content_id is not None else None
    if content is None or content_id is None:
        return Freedom.NONE
    users = read_users(session, [content_id], now)[content_id]
    return freedom_of(content, row, users, read_heads(session, users.collections), settings, now)
