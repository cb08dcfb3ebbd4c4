"""Reads a series of collections for its plan: the contents in the order of the versions, and how long they stay.

How long follows from the strategy's own preview, with the uploads that the collection expects, or those it had lately.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field, replace
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, File, StoredObject, TrashEntry, Version
from frepo_core.db.models import Content as ContentRow
from frepo_core.domain.schedules.backup_deadlines import Expectation, parse_expectation
from frepo_core.domain.structs import struct
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.base.batches import batches
from frepo_core.services.content.objects.states import CURRENT
from frepo_core.services.content.objects.uses import is_second
from frepo_core.services.content.storages.backends import Backends
from frepo_core.settings import Settings

from ..preview.preview import NIGHTLY, Previews, UploadPlan
from .likeness import Sketch
from .planned_content import Content, Encoding, Freedom
from .series import Series, find_copied, read_living, read_series
from .sketches import read_sketches
from .trials import Tried, read_tried
from .uses import Heads, Users, freedom_of, is_newest, read_heads, read_users

PAGE = 500
# A simulated collection gets so many uploads, at most over two years: what is left then counts as kept.
UPLOADS = 400
LONGEST = timedelta(days=730)


@struct
class Survey:
    """The contents of a series in one storage, in ascending order, and their objects there, by their ids.

    `ends` says when versions leave, by their ids, as far as their strategies were asked.
    """

    series: Series
    storage: str
    contents: list[Content]
    rows: Mapping[int, StoredObject]
    users: Mapping[int, Users]
    ends: Mapping[str, datetime] = field(default_factory=dict)

    @property
    def collection_id(self) -> str:
        """The id of the first collection."""
        return self.series.name

    def find_next_change(self, now: datetime, settings: Settings) -> datetime | None:
        """Return when something is to be done at the earliest, if nothing changes but the time."""
        times = [max(users.arrived) + settings.compact_after for users in self.users.values() if users.arrived]
        times += [end for users in self.users.values() for end in users.ends]
        return min((time for time in times if time > now), default=None)

    def with_sketches(self, sketches: Mapping[int, Sketch]) -> "Survey":
        """Return the same with these sketches."""
        contents = [replace(one, sketch=sketches.get(one.id, one.sketch)) for one in self.contents]
        return replace(self, contents=contents)

    def without(self, collection_id: str) -> "Survey":
        """Return the same, with all that a collection has left as it is."""
        contents = [replace(one, freedom=Freedom.NONE) if collection_id in one.owners else one for one in self.contents]
        return replace(self, contents=contents)


class Surveys:
    """Reads collections."""

    def __init__(self, database: Database, backends: Backends, previews: Previews, settings: Settings) -> None:
        self._database = database
        self._backends = backends
        self._previews = previews
        self._settings = settings

    def read(self, collection_id: str, now: datetime) -> list[Survey]:
        """Return the series of a collection for each storage that has contents of it. No version counts as leaving."""
        # Between two statements, a version may go into the trash, or come back from it.
        with self._database.reading(is_snapshot=True) as session:
            series = read_series(session, self._backends, collection_id)
            if series is None or series.name != collection_id:
                return []
            rows = _read_rows(session, series)
            objects = _read_objects(session, self._backends, rows)
            users = read_users(session, rows, now)
            heads = read_heads(session, {name for each in users.values() for name in each.collections})
            facts = _Facts(
                settings=self._settings,
                users=users,
                heads=heads,
                series=series,
                members={incarnation: name for name, incarnation in series.incarnations},
                ids=frozenset(series.collections),
                living=read_living(session, series, users.values()),
                now=now,
                base_ids=_read_base_ids(session, objects),
                tried=read_tried(session, rows, now),
                sketches=read_sketches(session, rows),
                copied=find_copied(session, series, rows),
                possible=_find_possible(session, series.collections, rows, users),
                dependents=_count_dependents(session, objects),
            )
        return [self._of_storage(storage, rows, objects, facts) for storage in sorted({row.storage for row in objects})]

    def _of_storage(
        self, storage: str, rows: Mapping[int, ContentRow], objects: Iterable[StoredObject], facts: "_Facts"
    ) -> Survey:
        there = {row.content_id or 0: row for row in objects if row.storage == storage}
        contents = [
            facts.content(rows[id_], there[id_]) for id_ in sorted(there, key=lambda id_: facts.place(rows[id_]))
        ]
        planned = Counter(one.base_id for one in contents)
        contents = [replace(one, dependents=one.dependents - planned[one.id]) for one in contents]
        return Survey(series=facts.series, storage=storage, contents=contents, rows=there, users=facts.users)

    def with_ends(self, collection_id: str, survey: Survey) -> Survey:
        """Return the survey with the ends of the versions that a collection's strategy will evict.

        Raises what a preview does.
        """
        plan = self._plan(collection_id, survey)
        timeline = self._previews.preview(collection_id, CollectionChange(limits={}), plan).timeline
        fates = [fate for fate in timeline.fates if fate.eviction and not fate.is_imagined]
        ends = {**survey.ends, **{fate.version.id: fate.eviction.at for fate in fates if fate.eviction}}
        contents = [self._ended(content, survey.users[content.id], ends) for content in survey.contents]
        return replace(survey, contents=contents, ends=ends)

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


@struct
class _Facts:
    """What the contents of one series are made of. `members` are the ids of its collections by their incarnations.

    `living` are those of the collections, of all whose trash has a content, that were not deleted.
    """

    settings: Settings
    users: Mapping[int, Users]
    heads: Heads
    series: Series
    members: Mapping[str, str]
    living: AbstractSet[str]
    ids: AbstractSet[str]
    now: datetime
    base_ids: Mapping[str, int]
    tried: Mapping[int, Tried]
    sketches: Mapping[int, Sketch]
    copied: AbstractSet[int]
    possible: Mapping[int, frozenset[int]]
    dependents: Mapping[str, int]

    def place(self, row: ContentRow) -> tuple[float, int]:
        """Return the place of a content: the number of its newest version; in a group, when that arrived."""
        users = self.users[row.id]
        if self.series.is_group:
            return max(users.arrived).timestamp(), row.id
        versions = [each.number for each in users.versions if each.collection_id in self.ids]
        return 0.0, max([*versions, *(number for name, number, _ in users.trash if name in self.members)])

    def content(self, row: ContentRow, stored: StoredObject) -> Content:
        """Return what the plan needs to know of a content."""
        users = self.users[row.id]
        freedom = freedom_of(row, stored, users, self.heads, self.settings, self.now)
        if freedom is Freedom.SHARED and not self.series.is_group:
            freedom = Freedom.ZSTD
        trashed, known = {name for name, _, _ in users.trash}, self.members.keys()
        planned_by = min(users.collections or (trashed & (known | self.living)))
        if planned_by not in self.ids | known:
            freedom = Freedom.NONE  # it is planned with the other collection
        tried = self.tried.get(row.id, Tried())
        return Content(
            id=row.id,
            encoding=Encoding(stored.encoding),
            freedom=freedom,
            base_id=self.base_ids.get(stored.base_digest or ""),
            ends_at=None if users.versions else max(end for _, _, end in users.trash),
            is_alive=bool(users.versions),
            possible=frozenset() if tried.is_enough else self.possible.get(row.id),
            standing=users.standing,
            tried=tried.bases,
            size=row.size,
            sketch=self.sketches.get(row.id),
            owners=frozenset(
                users.collections & self.ids | {self.members[name] for name in trashed & self.members.keys()}
            ),
            is_elsewhere=not trashed <= known,
            serves_others=row.id in self.copied,
            is_held=bool(users.collections & self.ids),
            dependents=self.dependents.get(row.digest, 0) if stored.slot == CURRENT else 0,
            is_newest=is_newest(users, self.heads),
        )


def _read_rows(session: Session, series: Series) -> dict[int, ContentRow]:
    """Return the contents of the collections and of their trash."""
    ids, rows = set[int](), dict[int, ContentRow]()
    for batch in batches(series.incarnations, PAGE):
        names, incarnations = zip(*batch, strict=True)
        versions = select(File.content_id).join(Version, Version.file_id == File.id)
        ids |= set(session.scalars(versions.where(Version.collection_id.in_(names))))
        ids |= set(session.scalars(select(TrashEntry.content_id).where(TrashEntry.incarnation.in_(incarnations))))
    for page in batches(sorted(ids), PAGE):
        rows |= {row.id: row for row in session.scalars(select(ContentRow).where(ContentRow.id.in_(page)))}
    return rows


def _read_objects(session: Session, backends: Backends, content_ids: Iterable[int]) -> list[StoredObject]:
    """Return the first copies of contents: second ones are made as these are."""
    ordered, found = sorted(content_ids), list[StoredObject]()
    for batch in batches(ordered, PAGE):
        page = StoredObject.content_id.in_(batch)
        current = (StoredObject.slot == CURRENT, StoredObject.key.is_not(None), ~is_second(backends))
        found += session.scalars(select(StoredObject).where(page, *current))
    return found


def _read_base_ids(session: Session, objects: Iterable[StoredObject]) -> dict[str, int]:
    digests, found = sorted({row.base_digest for row in objects if row.base_digest}), dict[str, int]()
    for batch in batches(digests, PAGE):
        query = select(ContentRow.digest, ContentRow.id)
        page = query.where(ContentRow.digest.in_(batch))
        found |= {digest: content_id for digest, content_id in session.execute(page)}
    return found


def _count_dependents(session: Session, objects: Iterable[StoredObject]) -> dict[str, int]:
    """Return how many current objects depend on each of these, in the storage where most do."""
    digests, found = sorted({row.digest for row in objects}), Counter[str]()
    for batch in batches(digests, PAGE):
        query = select(StoredObject.base_digest, StoredObject.storage, func.count()).where(
            StoredObject.base_digest.in_(batch), StoredObject.slot == CURRENT
        )
        for digest, _, count in session.execute(query.group_by(StoredObject.base_digest, StoredObject.storage)):
            found[digest or ""] = max(found[digest or ""], count)
    return found


def _find_possible(
    session: Session, collection_ids: Iterable[str], rows: Iterable[int], users: Mapping[int, Users]
) -> dict[int, frozenset[int]]:
    """Return, for contents that other collections use, too, which contents are newer in all of these."""
    mine = set(collection_ids)
    shared = {content_id: users[content_id].collections - mine for content_id in rows}
    numbers: dict[str, dict[int, int]] = {}
    for name in {name for names in shared.values() for name in names}:
        query = select(File.content_id, Version.number).join(Version, Version.file_id == File.id)
        query = query.where(Version.collection_id == name).order_by(Version.number)
        numbers[name] = {content_id: number for content_id, number in session.execute(query)}  # the newest of each
    return {
        content_id: frozenset.intersection(
            *(
                frozenset(other for other, number in numbers[name].items() if number > numbers[name][content_id])
                for name in names
            )
        )
        for content_id, names in shared.items()
        if names
    }
