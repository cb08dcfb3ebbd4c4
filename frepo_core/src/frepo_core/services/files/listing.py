"""Listings of files and collections: a page, and how many pages there are."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Generic, TypeVar
from unicodedata import normalize

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, CollectionToken, File, Tag, file_tag
from frepo_core.domain.access import RULES
from frepo_core.domain.identity import Identity
from frepo_core.domain.roles import Role

from ..access.passwords import Passwords
from ..records import WITH_BLOB, CollectionRecord, FileRecord
from .file_query import COUNT_AHEAD, Files, Protected, contains

Row = TypeVar("Row")

PASSWORD_CHECKS = 10
# A search with a password looks at so many of the newest protected files that match.
MAX_PROTECTED_CANDIDATES = 1_000
# What wrong passwords in listings are counted for, in place of a file.
LISTINGS = "listings"
_FILE, _TAG = File.__table__, Tag.__table__
NEWEST = (Collection.created_at.desc(), Collection.id.desc())


@dataclass(frozen=True, kw_only=True)
class Page(Generic[Row]):
    """Rows of one page; pages count from 1, `last` is at least 1.

    Rows are counted to 4,000 after the page: where there are more, `last` is the last page that is known to be.
    """

    rows: Sequence[Row]
    number: int
    last: int
    size: int


@dataclass(frozen=True, kw_only=True)
class FileSearch:
    """Which files: names that contain `text`, one of the tags, one of the types. Nothing given: all.

    `address`: the client's, for which wrong passwords are counted.
    """

    text: str = ""
    tags: Sequence[str] = ()
    mimes: Sequence[str] = ()
    password: str = field(default="", repr=False)
    address: str = ""
    page: int = 1
    size: int = 20


@dataclass(frozen=True, kw_only=True)
class ListedFile:
    """A file in a listing; what is masked must not be shown but its type, size and time."""

    file: FileRecord
    masked: bool


@dataclass(frozen=True, kw_only=True)
class CollectionSearch:
    """Which collections: days are inclusive and in UTC, `tokens` are keys of tokens that must be listed."""

    text: str = ""
    created_from: date | None = None
    created_to: date | None = None
    tokens: Sequence[str] = ()
    page: int = 1
    size: int = 20


class Listing:
    """The use cases of listings."""

    def __init__(self, database: Database, passwords: Passwords) -> None:
        self._database = database
        self._passwords = passwords

    def files(self, search: FileSearch, *, by: Identity) -> Page[ListedFile]:
        """Return public plain files, for an administrator all plain ones, newest first; versions never."""
        public = (True, False) if Role.ADMINISTRATOR in by.roles else (True,)
        shares = None if by.holds(Role.VIEW_ALL_TAGS) else by.tags
        opens = self._password_checker(search, by)
        wanted = Files(
            public=public, shares=shares, text=normalize("NFC", search.text), tags=search.tags, mimes=search.mimes
        )
        if not by.holds(Role.VIEW_ANY_FILE):
            wanted = replace(wanted, opened=self._opened(wanted, opens) if search.password and wanted.searches else [])
        with self._database.reading() as session:
            ids, total = wanted.page(session, _offset(search), search.size)
            rows = session.execute(WITH_BLOB.where(_FILE.c.id.in_(ids)).order_by(_FILE.c.id.desc())).all()
            tags = _tags_of(session, ids)
        files = [FileRecord.of_row(row, tuple(tags[row.id])) for row in rows]
        listed = [ListedFile(file=file, masked=not (_shares_tags(file, by) and opens(file))) for file in files]
        return Page(rows=listed, number=search.page, last=_last_page(total, search.size), size=search.size)

    def collections(self, search: CollectionSearch, *, by: Identity) -> Page[CollectionRecord]:
        """Return the collections that the token may see, newest first."""
        query = select(Collection)
        if not RULES["collection.fetch"].allows(by, listed=False):
            query = query.where(_lists_one_of([by.token]))
        if text := search.text.strip("*"):
            query = query.where(
                or_(
                    *(contains(column, text) for column in (Collection.filename, Collection.description, Collection.id))
                )
            )
        if search.created_from:
            query = query.where(Collection.created_at >= _midnight(search.created_from))
        if search.created_to and search.created_to < date.max:
            query = query.where(Collection.created_at < _midnight(search.created_to + timedelta(days=1)))
        if search.tokens:
            query = query.where(_lists_one_of(search.tokens))
        with self._database.reading() as session:
            ids = query.with_only_columns(Collection.id).order_by(*NEWEST)
            counted = ids.limit(_offset(search) + search.size + COUNT_AHEAD)
            total = session.scalar(select(func.count()).select_from(counted.subquery())) or 0
            page = session.scalars(ids.limit(search.size).offset(_offset(search))).all()
            rows = session.scalars(select(Collection).where(Collection.id.in_(page)).order_by(*NEWEST)).all()
            facts = [CollectionRecord.of(row) for row in rows]
        return Page(rows=facts, number=search.page, last=_last_page(total, search.size), size=search.size)

    def _opened(self, wanted: Files, opens: Callable[[FileRecord | Protected], bool]) -> list[int]:
        """Return the protected files that a search may find, as the caller's password opens them."""
        with self._database.reading() as session:
            candidates = wanted.protected(session, MAX_PROTECTED_CANDIDATES)
        return [file.id for file in candidates if opens(file)]

    def _password_checker(self, search: FileSearch, by: Identity) -> Callable[[FileRecord | Protected], bool]:
        """Return what tells whether a file is open to the caller.

        A password costs one hash for all files. Those of before passwords shared a salt cost one each, so only the first
        ten of them are tried. Raises `TooManyAttemptsError` where the client has guessed too often.
        """
        if search.password and not by.holds(Role.VIEW_ANY_FILE):
            self._passwords.attempts.check(LISTINGS, search.address)
        known: dict[str, bool] = {}
        expensive = 0

        def opens(file: FileRecord | Protected) -> bool:
            nonlocal expensive
            stored = file.password_hash
            if not stored or by.holds(Role.VIEW_ANY_FILE):
                return True
            if not search.password:
                return False
            if stored not in known:
                expensive += not self._passwords.shares_salt(stored)
                known[stored] = expensive <= PASSWORD_CHECKS and self._passwords.matches(search.password, stored)
                if not known[stored]:
                    self._passwords.attempts.add_failure(LISTINGS, search.address, search.password)
            return known[stored]

        return opens


def _tags_of(session: Session, ids: Sequence[int]) -> dict[int, list[str]]:
    """Return the tags of files, in the order of their names."""
    tags: dict[int, list[str]] = defaultdict(list)
    query = select(file_tag.c.file_id, _TAG.c.name).join(_TAG, _TAG.c.id == file_tag.c.tag_id)
    for file, tag in session.execute(query.where(file_tag.c.file_id.in_(ids)).order_by(_TAG.c.name)):
        tags[file].append(tag)
    return tags


def _shares_tags(file: FileRecord, by: Identity) -> bool:
    if by.holds(Role.VIEW_ALL_TAGS):
        return True
    return bool(set(file.tags) & set(by.tags)) or not (file.tags or by.tags)


def _lists_one_of(keys: Sequence[str]) -> ColumnElement[bool]:
    return Collection.id.in_(select(CollectionToken.collection_id).where(CollectionToken.token_key.in_(keys)))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _last_page(total: int, size: int) -> int:
    return max(1, -(-total // size))


def _offset(search: FileSearch | CollectionSearch) -> int:
    return (search.page - 1) * search.size
