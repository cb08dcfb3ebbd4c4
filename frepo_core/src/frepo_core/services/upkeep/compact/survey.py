"""Reads a collection for its plan: its contents in the order of its versions, and how long they stay.

How long follows from the strategy's own preview, with the uploads that the collection expects, or those it had lately.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, Collection, File, TrashEntry, Version
from frepo_core.domain.backups.compaction import Content, Encoding, Freedom
from frepo_core.domain.schedules.backup_deadlines import Expectation, parse_expectation
from frepo_core.settings import Settings

from ...backups.collections.collection_change import CollectionChange
from ...backups.preview.preview import NIGHTLY, Previews, UploadPlan
from ...backups.trash.removal import incarnation_of
from .uses import Heads, Users, freedom_of, read_heads, read_users

PAGE = 500
# A simulated collection gets so many uploads, at most over two years: what is left then counts as kept.
UPLOADS = 400
LONGEST = timedelta(days=730)


@dataclass(frozen=True, kw_only=True)
class Survey:
    """The contents of a collection in one storage, in ascending order, and their rows."""

    collection_id: str
    contents: list[Content]
    rows: Mapping[int, Blob]
    users: Mapping[int, Users]


class Surveys:
    """Reads collections."""

    def __init__(self, database: Database, previews: Previews, settings: Settings) -> None:
        self._database = database
        self._previews = previews
        self._settings = settings

    def read(self, collection_id: str, now: datetime) -> list[Survey]:
        """Return a collection for each storage that has contents of it. No version counts as leaving."""
        # Between two statements, a version may go into the trash, or come back from it.
        with self._database.reading(is_snapshot=True) as session:
            collection = session.get(Collection, collection_id)
            if collection is None:
                return []
            incarnation = incarnation_of(collection)
            rows = _read_rows(session, collection_id, incarnation)
            users = read_users(session, rows, now)
            heads = read_heads(session, {name for each in users.values() for name in each.collections})
            facts = _Facts(
                settings=self._settings,
                users=users,
                heads=heads,
                collection_id=collection_id,
                incarnation=incarnation,
                now=now,
            )
            possible = _find_possible(session, collection_id, rows, users)
        surveys = []
        for storage in sorted({row.storage for row in rows.values()}):
            mine = sorted((row for row in rows.values() if row.storage == storage), key=facts.place)
            contents = [facts.content(row, possible.get(row.id)) for row in mine]
            surveys.append(Survey(collection_id=collection_id, contents=contents, rows=rows, users=users))
        return surveys

    def with_ends(self, collection_id: str, survey: Survey) -> Survey:
        """Return the survey with the ends of the versions that the strategy will evict. Raises what a preview does."""
        plan = self._plan(collection_id, survey)
        timeline = self._previews.preview(collection_id, CollectionChange(limits={}), plan).timeline
        ends = {fate.version.id: fate.eviction.at for fate in timeline.fates if fate.eviction and not fate.is_imagined}
        contents = [self._ended(content, survey.users[content.id], ends) for content in survey.contents]
        return replace(survey, contents=contents)

    def _ended(self, content: Content, users: Users, ends: Mapping[str, datetime]) -> Content:
        if not users.versions or any(version.id not in ends for version in users.versions):
            return content
        last = max(ends[version.id] for version in users.versions) + self._settings.trash_keep
        return replace(content, ends_at=max([last, *(end for _, _, end in users.trash)]))

    def _plan(self, collection_id: str, survey: Survey) -> UploadPlan:
        """Return the uploads that are expected: the next one a whole interval after the last."""
        with self._database.reading() as session:
            text = session.scalar(select(Collection.expected_every).where(Collection.id == collection_id))
        versions = [each for users in survey.users.values() for each in users.versions]
        times = sorted(each.created_at for each in versions if each.collection_id == collection_id)
        every = parse_expectation(text) if text else _usual(times)
        start, interval = utc_now(), every.interval or timedelta(days=1)
        if every.interval and times:
            start = max(start, times[-1] + every.interval)
        return UploadPlan(every=every, duration=min(LONGEST, interval * UPLOADS), start=start)


def _usual(times: Sequence[datetime]) -> Expectation:
    """Return the usual time between the latest uploads; a night for few."""
    latest = times[-9:]
    if len(latest) < 3:
        return NIGHTLY
    seconds = sorted((after - before).total_seconds() for before, after in itertools.pairwise(latest))
    return Expectation(text="", interval=timedelta(seconds=min(max(seconds[len(seconds) // 2], 3600), 7 * 86400)))


@dataclass(frozen=True, kw_only=True)
class _Facts:
    """What the contents of one collection are made of."""

    settings: Settings
    users: Mapping[int, Users]
    heads: Heads
    collection_id: str
    incarnation: str
    now: datetime

    def place(self, row: Blob) -> int:
        """Return the number of the newest version of the collection that uses the content."""
        users = self.users[row.id]
        versions = [each.number for each in users.versions if each.collection_id == self.collection_id]
        return max([*versions, *(number for name, number, _ in users.trash if name == self.incarnation)])

    def content(self, row: Blob, possible: frozenset[int] | None) -> Content:
        """Return what the plan needs to know of a content."""
        users = self.users[row.id]
        freedom = freedom_of(row, users, self.heads, self.settings, self.now)
        if users.collections and min(users.collections) != self.collection_id:
            freedom = Freedom.NONE  # it is planned with the other collection
        return Content(
            id=row.id,
            encoding=Encoding(row.encoding),
            freedom=freedom,
            base_id=row.base_id,
            ends_at=None if users.versions else max(end for _, _, end in users.trash),
            is_alive=bool(users.versions),
            possible=possible,
        )


def _read_rows(session: Session, collection_id: str, incarnation: str) -> dict[int, Blob]:
    """Return the contents of a collection and of its trash."""
    versions = select(File.blob_id).join(Version, Version.file_id == File.id)
    ids = set(session.scalars(versions.where(Version.collection_id == collection_id)))
    ids |= set(session.scalars(select(TrashEntry.blob_id).where(TrashEntry.incarnation == incarnation)))
    ordered, rows = sorted(ids), dict[int, Blob]()
    for start in range(0, len(ordered), PAGE):
        page = select(Blob).where(Blob.id.in_(ordered[start : start + PAGE]))
        rows |= {row.id: row for row in session.scalars(page)}
    return rows


def _find_possible(
    session: Session, collection_id: str, rows: Iterable[int], users: Mapping[int, Users]
) -> dict[int, frozenset[int]]:
    """Return, for contents that other collections use, too, which contents are newer in all of these."""
    shared = {blob_id: users[blob_id].collections - {collection_id} for blob_id in rows}
    numbers: dict[str, dict[int, int]] = {}
    for name in {name for names in shared.values() for name in names}:
        query = select(File.blob_id, Version.number).join(Version, Version.file_id == File.id)
        query = query.where(Version.collection_id == name).order_by(Version.number)
        numbers[name] = {blob_id: number for blob_id, number in session.execute(query)}  # the newest of each
    return {
        blob_id: frozenset.intersection(
            *(
                frozenset(other for other, number in numbers[name].items() if number > numbers[name][blob_id])
                for name in names
            )
        )
        for blob_id, names in shared.items()
        if names
    }
