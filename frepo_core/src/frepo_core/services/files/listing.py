"""The use cases of listings: pages of files and of collections."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Generic, TypeVar
from unicodedata import normalize

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, text_expressions
from frepo_core.db.models import Collection, CollectionToken, File
from frepo_core.domain.access import allows
from frepo_core.domain.identity import Identity

from ..access.passwords import Passwords
from ..access.visible_files import shares_tags, tags_of
from ..base.keyset import Page as KeysetPage
from ..base.keyset import PageRequest, bound_values, cut
from ..base.records import WITH_BLOB, CollectionRecord, FileRecord
from .file_query import COUNT_AHEAD, FileQuery, Protected

Row = TypeVar("Row")

PASSWORD_CHECKS = 10
# A search with a password tries it on this many of the newest protected files that match.
MAX_PROTECTED_CANDIDATES = 1_000
# The target for which wrong passwords in listings are counted, instead of a file.
LISTINGS = "listings"
_FILE = File.__table__
NEWEST = (Collection.created_at.desc(), Collection.id.desc())


@dataclass(frozen=True, kw_only=True)
class Page(Generic[Row]):
    """The rows of one page. Pages are numbered from 1, and `last` is at least 1.

    Rows are counted up to 4,000 after the page. If there are more, `last` is the last page that is known to exist.
    """

    rows: Sequence[Row]
    number: int
    last: int
    size: int


@dataclass(frozen=True, kw_only=True)
class FileSearch:
    """A search for files whose name contains `text`, with one of the tags and one of the types; empty: any.

    `address` is the client's, for which wrong passwords are counted.
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
    """A file in a listing. Of a masked file, only type, size and time may be shown."""

    file: FileRecord
    masked: bool


@dataclass(frozen=True, kw_only=True)
class CollectionSearch:
    """A search for collections. Days are inclusive, in UTC. The collection must list one of the keys `tokens`."""

    text: str = ""
    created_from: date | None = None
    created_to: date | None = None
    tokens: Sequence[str] = ()
    page: int = 1
    size: int = 20


class Listing:
    """Lists files and collections."""

    def __init__(self, database: Database, passwords: Passwords) -> None:
        self._database = database
        self._passwords = passwords

    def files(self, search: FileSearch, *, by: Identity) -> Page[ListedFile]:
        """Return public plain files, or all plain files for an administrator, newest first. Versions are not listed."""
        is_unlocked = self._password_checker(search, by)
        query = self._file_query(search, is_unlocked, by)
        with self._database.reading() as session:
            ids, total = query.page(session, _offset(search), search.size)
            listed = _listed(_load_files(session, ids), is_unlocked, by)
        return Page(rows=listed, number=search.page, last=_last_page(total, search.size), size=search.size)

    def visible_files(self, search: FileSearch, page: PageRequest, *, by: Identity) -> KeysetPage[FileRecord]:
        """Return a page of the files that `files` lists, newest first, without the masked ones: it may be shorter.

        Raises `FieldsError` for a cursor of another list.
        """
        is_unlocked = self._password_checker(search, by)
        query = self._file_query(search, is_unlocked, by)
        before = None if page.after is None else bound_values([File.id], page.after)[0]
        with self._database.reading() as session:
            found = cut(query.page_before(session, before, page.limit + 1), page, lambda number: [number])
            listed = _listed(_load_files(session, found.items), is_unlocked, by)
        return KeysetPage(items=[one.file for one in listed if not one.masked], next=found.next)

    def _file_query(
        self, search: FileSearch, is_unlocked: Callable[[FileRecord | Protected], bool], by: Identity
    ) -> FileQuery:
        query = FileQuery(
            public=(True, False) if allows("file.list_private", by) else (True,),
            visible_tags=None if allows("file.list_all_tags", by) else by.tags,
            text=normalize("NFC", search.text),
            tags=search.tags,
            mimes=search.mimes,
        )
        if allows("file.read_any", by):
            return query
        tries_password = search.password and query.uses_masked_fields
        return replace(query, unlocked_ids=self._unlocked_ids(query, is_unlocked) if tries_password else [])

    def collections(self, search: CollectionSearch, *, by: Identity) -> Page[CollectionRecord]:
        """Return the collections that the token may see, newest first."""
        query = select(Collection)
        if not allows("collection.fetch", by):
            query = query.where(_allows_one_of([by.token]))
        if text := search.text.strip("*"):
            query = query.where(
                or_(
                    *(
                        text_expressions.contains(column, text)
                        for column in (Collection.filename, Collection.description, Collection.id)
                    )
                )
            )
        if search.created_from:
            query = query.where(Collection.created_at >= _midnight(search.created_from))
        if search.created_to and search.created_to < date.max:
            query = query.where(Collection.created_at < _midnight(search.created_to + timedelta(days=1)))
        if search.tokens:
            query = query.where(_allows_one_of(search.tokens))
        with self._database.reading() as session:
            ids = query.with_only_columns(Collection.id).order_by(*NEWEST)
            counted = ids.limit(_offset(search) + search.size + COUNT_AHEAD)
            total = session.scalar(select(func.count()).select_from(counted.subquery())) or 0
            page = session.scalars(ids.limit(search.size).offset(_offset(search))).all()
            rows = session.scalars(select(Collection).where(Collection.id.in_(page)).order_by(*NEWEST)).all()
            records = [CollectionRecord.of(row) for row in rows]
        return Page(rows=records, number=search.page, last=_last_page(total, search.size), size=search.size)

    def _unlocked_ids(self, query: FileQuery, is_unlocked: Callable[[FileRecord | Protected], bool]) -> list[int]:
        """Return the ids of protected files that match the query and have the caller's password."""
        with self._database.reading() as session:
            candidates = query.protected(session, MAX_PROTECTED_CANDIDATES)
        return [file.id for file in candidates if is_unlocked(file)]

    def _password_checker(self, search: FileSearch, by: Identity) -> Callable[[FileRecord | Protected], bool]:
        """Return a function that says whether the caller may see a file, by its password.

        One hash suffices for all files whose passwords share the salt. Older ones cost a hash each, so only the first
        ten of those are tried. Raises `TooManyAttemptsError` if the client has failed too often.
        """
        if search.password and not allows("file.read_any", by):
            self._passwords.attempts.check(LISTINGS, search.address)
        known: dict[str, bool] = {}
        extra_hashes = 0

        def is_unlocked(file: FileRecord | Protected) -> bool:
            nonlocal extra_hashes
            stored = file.password_hash
            if not stored or allows("file.read_any", by):
                return True
            if not search.password:
                return False
            if stored not in known:
                extra_hashes += not self._passwords.shares_salt(stored)
                known[stored] = extra_hashes <= PASSWORD_CHECKS and self._passwords.matches(search.password, stored)
                if not known[stored]:
                    self._passwords.attempts.add_failure(LISTINGS, search.address, search.password)
            return known[stored]

        return is_unlocked


def _load_files(session: Session, ids: Sequence[int]) -> list[FileRecord]:
    rows = session.execute(WITH_BLOB.where(_FILE.c.id.in_(ids)).order_by(_FILE.c.id.desc())).all()
    tags = tags_of(session, ids)
    return [FileRecord.of_row(row, tuple(tags[row.id])) for row in rows]


def _listed(
    files: Sequence[FileRecord], is_unlocked: Callable[[FileRecord | Protected], bool], by: Identity
) -> list[ListedFile]:
    return [ListedFile(file=file, masked=not (shares_tags(file.tags, by) and is_unlocked(file))) for file in files]


def _allows_one_of(keys: Sequence[str]) -> ColumnElement[bool]:
    return Collection.id.in_(select(CollectionToken.collection_id).where(CollectionToken.token_key.in_(keys)))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _last_page(total: int, size: int) -> int:
    return max(1, -(-total // size))


def _offset(search: FileSearch | CollectionSearch) -> int:
    return (search.page - 1) * search.size
