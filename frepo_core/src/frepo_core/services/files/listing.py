"""Lists files: pages of those that a token may see, and which of them are masked for it."""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from unicodedata import normalize

from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import File
from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import allows
from frepo_core.domain.structs import struct

from ..access.passwords import Passwords
from ..access.visibility.visible_files import Sight, is_unlocked, see_file, tags_of
from ..base.keyset import NumberedPage, Page, PageRequest, bound_values, cut, last_page, offset
from ..base.records import WITH_BLOB, FileRecord
from ..content.objects.damage import mark_lost_files
from .file_query import FileQuery

PASSWORD_CHECKS = 10
# A search with a password tries it on this many of the newest protected files that match.
MAX_PROTECTED_CANDIDATES = 1_000
# The target for which wrong passwords in listings are counted, instead of a file.
LISTINGS = "listings"
_FILE = File.__table__


@struct
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


@struct
class ListedFile:
    """A file in a listing. Of a masked file, only type, size and time may be shown."""

    file: FileRecord
    masked: bool


class Listing:
    """Lists files."""

    def __init__(self, database: Database, passwords: Passwords) -> None:
        self._database = database
        self._passwords = passwords

    def files(self, search: FileSearch, *, by: Identity) -> NumberedPage[ListedFile]:
        """Return public plain files, or all plain files for an administrator, newest first. Versions are not listed."""
        has_password = self._password_checker(search, by)
        query = self._file_query(search, has_password, by)
        with self._database.reading() as session:
            ids, total = query.page(session, offset(search.page, search.size), search.size)
            listed = _listed(_load_files(session, ids), has_password, by)
        return NumberedPage(rows=listed, number=search.page, last=last_page(total, search.size), size=search.size)

    def visible_files(self, search: FileSearch, page: PageRequest, *, by: Identity) -> Page[FileRecord]:
        """Return a page of the files that `files` lists, newest first, without the masked ones: it may be shorter.

        Raises `FieldsError` for a cursor of another list.
        """
        has_password = self._password_checker(search, by)
        query = self._file_query(search, has_password, by)
        before = None if page.after is None else bound_values([File.id], page.after)[0]
        with self._database.reading() as session:
            found = cut(query.page_before(session, before, page.limit + 1), page, lambda number: [number])
            listed = _listed(_load_files(session, found.items), has_password, by)
        return Page(items=[one.file for one in listed if not one.masked], next=found.next)

    def _file_query(self, search: FileSearch, has_password: Callable[[str], bool], by: Identity) -> FileQuery:
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
        return replace(query, unlocked_ids=self._unlocked_ids(query, has_password, by) if tries_password else [])

    def _unlocked_ids(self, query: FileQuery, has_password: Callable[[str], bool], by: Identity) -> list[int]:
        """Return the ids of protected files that match the query and have the caller's password."""
        with self._database.reading() as session:
            candidates = query.protected(session, MAX_PROTECTED_CANDIDATES)
        return [file.id for file in candidates if is_unlocked(file.password_hash, by, has_password)]

    def _password_checker(self, search: FileSearch, by: Identity) -> Callable[[str], bool]:
        """Return a function that says of a hash whether the caller has sent its password.

        One hash suffices for all files whose passwords share the salt. Older ones cost a hash each, so only the first
        ten of those are tried. Raises `TooManyAttemptsError` if the client has failed too often.
        """
        if search.password and not allows("file.read_any", by):
            self._passwords.attempts.require_left(LISTINGS, search.address)
        known: dict[str, bool] = {}
        extra_hashes = 0

        def has_password(stored: str) -> bool:
            nonlocal extra_hashes
            if not search.password:
                return False
            if stored not in known:
                extra_hashes += not self._passwords.shares_salt(stored)
                known[stored] = extra_hashes <= PASSWORD_CHECKS and self._passwords.matches(search.password, stored)
                if not known[stored]:
                    self._passwords.attempts.add_failure(LISTINGS, search.address, search.password)
            return known[stored]

        return has_password


def _load_files(session: Session, ids: Sequence[int]) -> list[FileRecord]:
    rows = session.execute(WITH_BLOB.where(_FILE.c.id.in_(ids)).order_by(_FILE.c.id.desc())).all()
    tags = tags_of(session, ids)
    return mark_lost_files(session, [FileRecord.of_row(row, tuple(tags[row.id])) for row in rows])


def _listed(files: Sequence[FileRecord], has_password: Callable[[str], bool], by: Identity) -> list[ListedFile]:
    sights = [see_file(file.public, file.password_hash, file.tags, by, has_password) for file in files]
    return [ListedFile(file=file, masked=sight is not Sight.FULL) for file, sight in zip(files, sights, strict=True)]
