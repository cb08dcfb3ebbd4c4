"""Queries for pages of files. Each reads an index from its newest entry and stops early.

So a page costs the same among a thousand files and among a million.
"""

from collections.abc import Sequence
from dataclasses import field

from sqlalchemy import ColumnElement, Select, SQLColumnExpression, and_, func, or_, select, union
from sqlalchemy.orm import Session

from frepo_core.db import name_index, text_expressions
from frepo_core.db.models import File, Tag, file_tag
from frepo_core.domain.naming import transliterate
from frepo_core.domain.structs import struct

from ..base.keyset import COUNT_AHEAD


def _name_contains(text: str) -> ColumnElement[bool]:
    """Match a part of the stored name or of the requested name.

    Only stored names have an index. A requested name is therefore found by its ASCII form and compared afterwards.
    """
    stored, plain = text_expressions.contains(File.stored_name, text), transliterate(text)
    if plain == text:
        return stored
    return or_(
        stored,
        and_(text_expressions.contains(File.stored_name, plain), text_expressions.contains(File.requested_name, text)),
    )


@struct
class Protected:
    """A file with a password."""

    id: int
    password_hash: str | None = field(repr=False)


@struct
class FileQuery:
    """A query for plain files. `public` are the accepted values; `text`, `tags` and `mimes` are as in `FileSearch`.

    A search by name or tag must not find files that are masked for the caller: their names and tags could be guessed
    letter by letter otherwise. So it finds only files that share one of `visible_tags` (or, if that is empty, that
    have no tags), and of the files with a password only those in `unlocked_ids`. None removes the restriction.
    """

    public: Sequence[bool]
    visible_tags: Sequence[str] | None = None
    unlocked_ids: Sequence[int] | None = None
    text: str = ""
    tags: Sequence[str] = ()
    mimes: Sequence[str] = ()

    def page(self, session: Session, offset: int, size: int) -> tuple[list[int], int]:
        """Return the ids of a page, newest first, and the number of files, counted to 4,000 rows after the page."""
        scans = self._scans(session)
        if not scans:
            return [], 0
        page: list[int] = list(session.scalars(_newest(scans, offset + size).limit(size).offset(offset)))
        if not page:
            return [], _count(session, _newest(scans, offset))
        # Only rows after the page are counted: those before it were read already.
        older = [scan.where(scan.selected_columns.id < page[-1]) for scan in scans]
        if not (self.tags or self.text):
            # MariaDB would read the newer rows again to reach the older ones, so count from the oldest. Not for a tag
            # or a part of a name: the first match may come after a million old rows.
            older = [scan.order_by(None).order_by(scan.selected_columns.id) for scan in older]
        return page, offset + len(page) + _count(session, _newest(older, COUNT_AHEAD))

    def page_before(self, session: Session, before: int | None, size: int) -> list[int]:
        """Return up to `size` ids below `before` (None: of all), newest first."""
        scans = self._scans(session)
        if before is not None:
            scans = [scan.where(scan.selected_columns.id < before) for scan in scans]
        return list(session.scalars(_newest(scans, size))) if scans else []

    @property
    def uses_masked_fields(self) -> bool:
        """Return whether the search uses names or tags, which are masked for some callers."""
        return bool(self.text or self.tags)

    def protected(self, session: Session, count: int) -> list[Protected]:
        """Return the newest `count` files with a password that the search would find without `unlocked_ids`."""
        scans = [scan.where(File.password_hash.is_not(None)) for scan in self._scans(session)]
        if not scans:
            return []
        ids = session.scalars(_newest(scans, count)).all()
        rows = session.execute(select(File.id, File.password_hash).where(File.id.in_(ids)))
        return [Protected(id=row.id, password_hash=row.password_hash) for row in rows]

    def _scans(self, session: Session) -> list[Select[tuple[int]]]:
        """Return queries for ids that each read one index backwards: of tags, names, types, or all files."""
        public = [File.public == self.public[0]] if len(self.public) == 1 else []
        mimes = [File.mime.in_(self.mimes)] if self.mimes else []
        if self.tags:
            found = session.scalars(select(Tag.id).where(Tag.name.in_(self.tags)).order_by(Tag.id)).all()
            scan = self._scan(file_tag.c.file_id).where(*public, *mimes)
            return [scan.where(file_tag.c.tag_id == tag) for tag in found]
        if min(len(self.text), len(transliterate(self.text))) >= name_index.SHORTEST and name_index.has_table(
            session.connection()
        ):
            found_by_index = name_index.matches(self.text, transliterate(self.text))
            return [self._scan(name_index.file_name.c.rowid).where(found_by_index, *public, *mimes)]
        if self.mimes:
            scans = [self._scan(File.id).where(File.public == public) for public in self.public]
            return [scan.where(File.mime == mime) for scan in scans for mime in self.mimes]
        return [self._scan(File.id).where(*public)]

    def _scan(self, column: SQLColumnExpression[int]) -> Select[tuple[int]]:
        """Return a query for ids in descending order of a column that contains them, with the common conditions."""
        scan: Select[tuple[int]] = select(column.label("id")).where(File.kind == "plain")
        if column is not File.id:
            scan = scan.join(File, File.id == column)
        if self.text:
            scan = scan.where(_name_contains(self.text))
        if self.visible_tags is not None and self.uses_masked_fields:
            scan = scan.where(_shares_tags(self.visible_tags))
        if self.unlocked_ids is not None and self.uses_masked_fields:
            scan = scan.where(or_(File.password_hash.is_(None), File.id.in_(self.unlocked_ids)))
        return scan.order_by(column.desc())


def _shares_tags(names: Sequence[str]) -> ColumnElement[bool]:
    """Match files that have one of these tags or, if no names are given, files without tags."""
    on_file = select(file_tag.c.tag_id).where(file_tag.c.file_id == File.id).correlate(File).limit(1)
    # A subquery instead of EXISTS: for EXISTS, MariaDB reads all tags of all files first.
    if not names:
        return on_file.scalar_subquery().is_(None)
    return on_file.join(Tag, Tag.id == file_tag.c.tag_id).where(Tag.name.in_(names)).scalar_subquery().is_not(None)


def _count(session: Session, query: Select[tuple[int]]) -> int:
    return session.scalar(select(func.count()).select_from(query.subquery())) or 0


def _newest(scans: Sequence[Select[tuple[int]]], count: int) -> Select[tuple[int]]:
    """Return a query for the `count` newest ids of all scans; each scan stops after `count` rows."""
    if len(scans) == 1:
        return scans[0].limit(count)
    each = union(*(select(scan.limit(count).subquery().c.id) for scan in scans)).subquery()
    return select(each.c.id).order_by(each.c.id.desc()).limit(count)
