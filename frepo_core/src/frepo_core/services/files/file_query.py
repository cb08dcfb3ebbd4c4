"""Queries that walk an index from its newest entry, and stop: a page costs what it shows, not what there is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Select, SQLColumnExpression, and_, func, or_, select, union
from sqlalchemy.orm import Session

from frepo_core.db import name_index
from frepo_core.db.models import File, Tag, file_tag
from frepo_core.domain.naming import transliterate

# Pages are counted so many rows ahead of the one that is asked for.
COUNT_AHEAD = 4_000


def contains(column: Any, text: str) -> ColumnElement[bool]:
    """Look for a part in any letter case; `%` and `_` in it are letters like others.

    SQLite knows the case of ASCII only, so that other letters are looked for as they are written, too.
    """
    in_any_case = func.lower(column).contains(text.lower(), autoescape=True)
    return in_any_case if text.isascii() else or_(in_any_case, column.contains(text, autoescape=True))


def _is_named(text: str) -> ColumnElement[bool]:
    """Look for a part of the stored name, or of the name as it was requested.

    Only stored names have an index: a part of the requested name is looked for there in ASCII, and then compared.
    """
    stored, plain = contains(File.stored_name, text), transliterate(text)
    if plain == text:
        return stored
    return or_(stored, and_(contains(File.stored_name, plain), contains(File.requested_name, text)))


@dataclass(frozen=True, kw_only=True)
class Protected:
    """A file with a password."""

    id: int
    password_hash: str | None = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Files:
    """Which plain files: `public` holds the values that count, the rest as in `FileSearch`.

    `shares`: a search by name or tag finds only files that share one of these tags (none: that have no tags);
    None finds all. `opened`: such a search finds only these of the files with a password; None finds all. Names and tags
    that are masked could be guessed letter by letter otherwise. The type is shown of masked files, too.
    """

    public: Sequence[bool]
    shares: Sequence[str] | None = None
    opened: Sequence[int] | None = None
    text: str = ""
    tags: Sequence[str] = ()
    mimes: Sequence[str] = ()

    def page(self, session: Session, offset: int, size: int) -> tuple[list[int], int]:
        """Return the ids of a page, newest first, and how many there are, counted to 4,000 rows after the page."""
        walks = self._walks(session)
        if not walks:
            return [], 0
        page: list[int] = list(session.scalars(_first(walks, offset + size).limit(size).offset(offset)))
        if not page:
            return [], _count(session, _first(walks, offset))
        # Counted from where the page ends: what comes before it was walked through once already.
        older = [walk.where(walk.selected_columns.id < page[-1]) for walk in walks]
        if not (self.tags or self.text):
            # From the oldest: those that are older than the page come at once, where MariaDB passes over the newer ones
            # again to get to them. A tag, or a part of a name, may have none among a million old ones.
            older = [walk.order_by(None).order_by(walk.selected_columns.id) for walk in older]
        return page, offset + len(page) + _count(session, _first(older, COUNT_AHEAD))

    @property
    def searches(self) -> bool:
        """Tell whether files are looked for by what may be masked."""
        return bool(self.text or self.tags)

    def protected(self, session: Session, count: int) -> list[Protected]:
        """Return the newest files with a password that the search would find if all of them were open."""
        walks = [walk.where(File.password_hash.is_not(None)) for walk in self._walks(session)]
        if not walks:
            return []
        ids = session.scalars(_first(walks, count)).all()
        rows = session.execute(select(File.id, File.password_hash).where(File.id.in_(ids)))
        return [Protected(id=row.id, password_hash=row.password_hash) for row in rows]

    def _walks(self, session: Session) -> list[Select[tuple[int]]]:
        """Select ids so that each query walks one index backwards: of a tag, of a part of names, of a type, or of all."""
        public = [File.public == self.public[0]] if len(self.public) == 1 else []
        mimes = [File.mime.in_(self.mimes)] if self.mimes else []
        if self.tags:
            found = session.scalars(select(Tag.id).where(Tag.name.in_(self.tags)).order_by(Tag.id)).all()
            walk = self._through(file_tag.c.file_id).where(*public, *mimes)
            return [walk.where(file_tag.c.tag_id == tag) for tag in found]
        if min(len(self.text), len(transliterate(self.text))) >= name_index.SHORTEST and name_index.has_table(
            session.connection()
        ):
            found_by_index = name_index.matches(self.text, transliterate(self.text))
            return [self._through(name_index.file_name.c.rowid).where(found_by_index, *public, *mimes)]
        if self.mimes:
            walks = [self._through(File.id).where(File.public == public) for public in self.public]
            return [walk.where(File.mime == mime) for walk in walks for mime in self.mimes]
        return [self._through(File.id).where(*public)]

    def _through(self, column: SQLColumnExpression[int]) -> Select[tuple[int]]:
        """Select ids in the order of a column that has them; what every walk looks for besides is added."""
        walk: Select[tuple[int]] = select(column.label("id")).where(File.kind == "plain")
        if column is not File.id:
            walk = walk.join(File, File.id == column)
        if self.text:
            walk = walk.where(_is_named(self.text))
        if self.shares is not None and self.searches:
            walk = walk.where(_shares(self.shares))
        if self.opened is not None and self.searches:
            walk = walk.where(or_(File.password_hash.is_(None), File.id.in_(self.opened)))
        return walk.order_by(column.desc())


def _shares(names: Sequence[str]) -> ColumnElement[bool]:
    """Tell whether a file has one of these tags or, where there are none, no tag."""
    on_file = select(file_tag.c.tag_id).where(file_tag.c.file_id == File.id).correlate(File).limit(1)
    # Not by EXISTS: MariaDB would read all tags of all files first, to look each of ours up in that.
    if not names:
        return on_file.scalar_subquery().is_(None)
    return on_file.join(Tag, Tag.id == file_tag.c.tag_id).where(Tag.name.in_(names)).scalar_subquery().is_not(None)


def _count(session: Session, query: Select[tuple[int]]) -> int:
    return session.scalar(select(func.count()).select_from(query.subquery())) or 0


def _first(walks: Sequence[Select[tuple[int]]], count: int) -> Select[tuple[int]]:
    """Select the newest ids of all walks; each stops after so many."""
    if len(walks) == 1:
        return walks[0].limit(count)
    each = union(*(select(walk.limit(count).subquery().c.id) for walk in walks)).subquery()
    return select(each.c.id).order_by(each.c.id.desc()).limit(count)
