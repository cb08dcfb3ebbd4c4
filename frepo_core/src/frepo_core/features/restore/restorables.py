"""Finds what can be restored by the words of who restores: the name of a collection, a number, or a time.

It looks everywhere: at the versions of a collection, those in quarantine, the trash, and deleted collections.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, DeletedCollection, TrashEntry, Version
from frepo_core.domain.backups.verdicts import GOOD, Verdict
from frepo_core.domain.identity import parse_uuid4
from frepo_core.errors import NotFoundError
from frepo_core.services.backups.rows.newest_good import read_newest_good
from frepo_core.services.backups.rows.removal import incarnation_of
from frepo_core.services.backups.rows.version_rows import select_with_files
from frepo_core.services.backups.trash.entries import select_with_blobs, trashed_file
from frepo_core.services.base.records import FileRecord
from frepo_core.services.content.objects.damage import mark_lost_files

# Of so many versions, the newest ones, at least one is expected not to be damaged.
_LOOKED_AT = 50
_REMEDY = "`frepo backup:versions` and `frepo backup:trash` list what there is"


class Place(StrEnum):
    """Where a version is."""

    COLLECTION = "collection"
    QUARANTINE = "quarantine"
    TRASH = "trash"
    DELETED = "deleted collection"


@dataclass(frozen=True, kw_only=True)
class Source:
    """A collection, or a deleted one, with what is in its trash. `deleted_at` is None for one that exists."""

    id: str
    incarnation: str
    name: str
    deleted_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Restorable:
    """A version that can be restored, of a `source`. `ends_at` is until when, if it is in the trash (UTC, aware)."""

    source: Source
    place: Place
    number: int
    verdict: Verdict
    verdict_reason: str
    ends_at: datetime | None
    file: FileRecord

    @property
    def is_good(self) -> bool:
        """Whether nothing speaks against it, as far as is known."""
        return self.verdict in GOOD and self.place is not Place.QUARANTINE and not self.file.blob.is_damaged


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What can be restored of a source: its newest good version, if any, and how many versions are in its trash."""

    source: Source
    number: int | None
    created_at: datetime | None
    size: int | None
    in_trash: int


class Restorables:
    """Answers what can be restored."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def sources(self, name: str) -> Sequence[Source]:
        """Return the collections with this id or name, those that exist first, the last deleted one first."""
        wanted = parse_uuid4(name.lower())
        existing = or_(Collection.filename == name, Collection.id == wanted)
        of_deleted = (DeletedCollection.collection_id == wanted, DeletedCollection.incarnation == wanted)
        deleted = select(DeletedCollection).where(or_(DeletedCollection.name == name, *of_deleted))
        with self._database.reading() as session:
            rows = session.scalars(select(Collection).where(existing).order_by(Collection.id)).all()
            gone = session.scalars(deleted.order_by(DeletedCollection.deleted_at.desc())).all()
        return [*map(_source, rows), *map(_deleted_source, gone)]

    def find(self, source: Source, *, number: int | None = None, before: datetime | None = None) -> Restorable:
        """Return the version with a number, the newest one from before a time (aware), or else the newest good one.

        Only a number finds what is in quarantine. Raises `NotFoundError`.
        """
        with self._database.reading(is_snapshot=True) as session:
            if number is not None:
                return _numbered(session, source, number)
            if before is not None:
                return _newest(session, source, before)
            return _newest_good(session, source)

    def newer(self, found: Restorable) -> Restorable | None:
        """Return the newest version of the collection if it is newer than this one, such as one in quarantine."""
        with self._database.reading(is_snapshot=True) as session:
            return next(iter(_versions(session, found.source, Version.number > found.number)), None)

    def summaries(self, limit: int) -> Sequence[Summary]:
        """Return what can be restored of the collections that got a version last, and of deleted ones."""
        newest = select(Collection).order_by(Collection.arrived_at.desc(), Collection.id).limit(limit)
        deleted = select(DeletedCollection).order_by(DeletedCollection.deleted_at.desc()).limit(limit)
        with self._database.reading(is_snapshot=True) as session:
            existing = [_source(row) for row in session.scalars(newest)]
            good = read_newest_good(session, [one.id for one in existing])
            sources = [*existing, *(_deleted_source(row) for row in session.scalars(deleted))]
            counts = _count_trash(session, [one.incarnation for one in sources])
        found = [
            Summary(
                source=one,
                number=version.number if (version := good.get(one.id) if one.deleted_at is None else None) else None,
                created_at=version.created_at if version else None,
                size=version.size if version else None,
                in_trash=counts.get(one.incarnation, 0),
            )
            for one in sources
        ]
        return [one for one in found if one.number is not None or one.in_trash]


def _source(row: Collection) -> Source:
    return Source(id=row.id, incarnation=incarnation_of(row), name=row.filename)


def _deleted_source(row: DeletedCollection) -> Source:
    return Source(id=row.collection_id, incarnation=row.incarnation, name=row.name, deleted_at=row.deleted_at)


def _count_trash(session: Session, incarnations: Sequence[str]) -> dict[str, int]:
    query = select(TrashEntry.incarnation, func.count()).where(TrashEntry.incarnation.in_(incarnations))
    return {name: number for name, number in session.execute(query.group_by(TrashEntry.incarnation))}


def _numbered(session: Session, source: Source, number: int) -> Restorable:
    found = [
        *_versions(session, source, Version.number == number),
        *_entries(session, source, TrashEntry.number == number),
    ]
    if not found:
        raise NotFoundError(
            f"{source.name} has no version {number}, neither in the collection nor in its trash",
            remedy=f"`frepo backup:versions {source.id}` and `frepo backup:trash {source.id}` list what there is",
        )
    return found[0]


def _newest(session: Session, source: Source, before: datetime) -> Restorable:
    accepted = (~Version.is_quarantined, Version.condemned_at.is_(None), Version.created_at < before)
    trashed = (TrashEntry.quarantine_reason.is_(None), TrashEntry.created_at < before)
    found = [*_versions(session, source, *accepted), *_entries(session, source, *trashed)]
    if not found:
        raise NotFoundError(f"{source.name} has no version that had arrived by then", remedy=_REMEDY)
    return max(found, key=lambda one: one.number)


def _newest_good(session: Session, source: Source) -> Restorable:
    words = [verdict.value for verdict in GOOD]
    good = (Version.verdict.in_(words), ~Version.is_quarantined)
    trashed = (TrashEntry.verdict.in_(words), TrashEntry.quarantine_reason.is_(None))
    for found in (_versions(session, source, *good), _entries(session, source, *trashed)):
        if one := next((one for one in found if one.is_good), None):
            return one
    raise NotFoundError(
        f"{source.name} has no good version, neither in the collection nor in its trash", remedy=_REMEDY
    )


def _versions(session: Session, source: Source, *conditions: ColumnElement[bool]) -> Sequence[Restorable]:
    """Return the newest versions of a collection that meet the conditions; none of a deleted one."""
    if source.deleted_at is not None:
        return []
    query = select_with_files().where(Version.collection_id == source.id, *conditions)
    rows = session.scalars(query.order_by(Version.number.desc()).limit(_LOOKED_AT)).all()
    files = mark_lost_files(session, [FileRecord.of(row.file) for row in rows])
    return [
        Restorable(
            source=source,
            place=Place.QUARANTINE if row.quarantined_at is not None else Place.COLLECTION,
            number=row.number,
            verdict=Verdict(row.verdict),
            verdict_reason=row.verdict_reason or "",
            ends_at=None,
            file=file,
        )
        for row, file in zip(rows, files, strict=True)
    ]


def _entries(session: Session, source: Source, *conditions: ColumnElement[bool]) -> Sequence[Restorable]:
    """Return the newest versions in the trash that meet the conditions."""
    query = select_with_blobs().where(TrashEntry.incarnation == source.incarnation, *conditions)
    rows = session.scalars(query.order_by(TrashEntry.number.desc(), TrashEntry.id.desc()).limit(_LOOKED_AT)).all()
    files = mark_lost_files(session, [trashed_file(row) for row in rows])
    return [
        Restorable(
            source=source,
            place=Place.TRASH if source.deleted_at is None else Place.DELETED,
            number=row.number,
            verdict=Verdict(row.verdict),
            verdict_reason=row.verdict_reason or row.quarantine_reason or "",
            ends_at=row.ends_at,
            file=file,
        )
        for row, file in zip(rows, files, strict=True)
    ]
