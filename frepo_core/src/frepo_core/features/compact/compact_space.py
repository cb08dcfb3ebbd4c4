"""Reports about compact storage: what it saves, in all and of a collection, and what waits."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import OBJECT_SIZE, Collection, Content, File, StoredObject, Version
from frepo_core.domain.sizes import readable_size
from frepo_core.domain.structs import struct
from frepo_core.errors import CompactLateError, NotFoundError
from frepo_core.services.base.batches import batches
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.reports.sizes import read_sizes
from frepo_core.settings import Settings

from .compact_figures import Figures, is_any_encoded, is_counted, measure_debt, read_figures
from .foreign_bases import has_foreign_base, select_of_deleted, select_unused
from .planned_content import Encoding

PAGE = 500
# For so long, a content may be a base after it has left, or after its collection was deleted.
LONGEST_AS_BASE = timedelta(days=7)


@struct
class CompactSpace:
    """What compact storage saves in the whole service, as its last run has counted it.

    `debt` (bytes) is what is only kept as the base of others, now. Before the first run, nothing was counted.
    """

    figures: Figures
    debt: int
    is_counted: bool = True


@struct
class CollectionSpace:
    """The bytes of the versions of a collection, and those that are stored for them: equal contents once.

    What is stored as the difference to a content of another collection counts as if it was stored as it is: the sizes
    of a collection say nothing of others.

    `encoded` is the number of contents that are compressed or differences. `depth` is how many differences are read
    for the version that needs most.
    """

    size: int
    stored: int
    contents: int
    encoded: int
    depth: int


class CompactSpaces:
    """Reads the figures."""

    def __init__(self, database: Database, backends: Backends, settings: Settings) -> None:
        self._database = database
        self._backends = backends
        self._settings = settings

    def read(self) -> CompactSpace | None:
        """Return the figures of the service; None if nothing is encoded and the setting is off."""
        with self._database.reading() as session:
            found = read_figures(session)
            is_encoded = bool(found.encoded) if found else is_any_encoded(session)
            if not (self._settings.compact or is_encoded):
                return None
            return CompactSpace(
                figures=found or Figures(), debt=measure_debt(session, self._backends), is_counted=found is not None
            )

    def read_collection(self, collection_id: str) -> CollectionSpace:
        """Return what the versions of a collection take. Raises `NotFoundError`."""
        with self._database.reading() as session:
            if session.get(Collection, collection_id) is None:
                raise NotFoundError("Collection not found")
            versions = select(File.content_id).join(Version, Version.file_id == File.id)
            ids = versions.where(Version.collection_id == collection_id)
            size = select(func.coalesce(func.sum(Content.size), 0)).join(File, File.content_id == Content.id)
            size = size.join(Version, Version.file_id == File.id).where(Version.collection_id == collection_id)
            is_foreign = has_foreign_base(collection_id)
            stored = select(func.count(), func.coalesce(func.sum(_shown_size(is_foreign)), 0))
            stored = stored.where(is_counted(self._backends))
            contents, stored_size = session.execute(stored.where(StoredObject.content_id.in_(ids))).one()
            encoded = select(StoredObject.digest, StoredObject.base_digest).where(
                is_counted(self._backends), ~is_foreign
            )
            encoded = encoded.where(StoredObject.content_id.in_(ids), StoredObject.encoding != Encoding.RAW)
            bases = {digest: base for digest, base in session.execute(encoded)}
            return CollectionSpace(
                size=int(session.scalar(size) or 0),
                stored=int(stored_size),
                contents=contents,
                encoded=len(bases),
                depth=_depth(session, self._backends, bases),
            )

    def read_stored(self, collection_ids: Sequence[str]) -> dict[str, int]:
        """Return the bytes that are stored for the versions of each collection: equal contents once."""
        found: dict[str, int] = {}
        for batch in batches(collection_ids, PAGE):
            of_page = Version.collection_id.in_(batch)
            uses = select(Version.collection_id, File.content_id).join(File, File.id == Version.file_id).where(of_page)
            each = uses.distinct().subquery()
            size = _shown_size(has_foreign_base(each.c.collection_id))
            query = select(each.c.collection_id, func.sum(size)).join(
                StoredObject, StoredObject.content_id == each.c.content_id
            )
            with self._database.reading() as session:
                rows = session.execute(query.where(is_counted(self._backends)).group_by(each.c.collection_id))
                found |= {name: int(size) for name, size in rows}
        return found

    def check(self) -> None:
        """Raise `CompactLateError` if bases that nothing else uses take more than `compact.debt` percent.

        Or if one of them, or one of a deleted collection, has been needed for longer than a week.
        """
        with self._database.reading() as session:
            if session.scalar(select(func.max(StoredObject.base_digest))) is None:  # the end of an index
                return  # nothing has a base
            before = utc_now() - LONGEST_AS_BASE
            found = session.scalar(select_unused(before).limit(1)) or session.scalar(
                select_of_deleted(self._backends, before).limit(1)
            )
            debt = measure_debt(session, self._backends)
            stored = read_sizes(session, self._backends, utc_now()).stored if debt else 0
        if found:
            raise CompactLateError(
                f"The content {found} was deleted more than {LONGEST_AS_BASE.days} days ago, or its collection was, "
                "and others still need it as their base. The job compact gives these another base: "
                "`frepo jobs compact` says why it does not"
            )
        if stored and debt * 100 > stored * self._settings.compact_debt:
            raise CompactLateError(
                f"{readable_size(debt)} of {readable_size(stored)} are only kept because others need them as their "
                "base. The job compact gives these another base: `frepo jobs compact` says why it does not"
            )


def _shown_size(is_foreign: ColumnElement[bool]) -> ColumnElement[int]:
    return case((is_foreign, StoredObject.size), else_=OBJECT_SIZE)


def _depth(session: Session, backends: Backends, bases: dict[str, str | None]) -> int:
    """Return the length of the longest chain. Bases of other collections are looked up."""
    level, depth = {base for base in bases.values() if base is not None}, 0
    while level:
        depth += 1
        known = {base for one in level if one in bases and (base := bases[one]) is not None}
        others = [one for one in level if one not in bases]
        found = session.scalars(
            select(StoredObject.base_digest).where(StoredObject.digest.in_(others), is_counted(backends))
        )
        level = known | {base for base in found if base is not None}
    return depth
