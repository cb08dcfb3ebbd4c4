"""What compact storage saves, as the last run of the job has counted it: reports read one row."""

import json
from dataclasses import asdict

from sqlalchemy import ColumnElement, and_, func, select, update
from sqlalchemy.orm import Session, aliased

from frepo_core.db import Database, utc_now
from frepo_core.db.models import OBJECT_SIZE, Content, Installation, StoredObject
from frepo_core.domain.structs import struct
from frepo_core.services.base.batches import batches
from frepo_core.services.content.objects.decodable import MOST_LEVELS
from frepo_core.services.content.objects.states import CURRENT
from frepo_core.services.content.objects.uses import is_second, is_used
from frepo_core.services.content.storages.backends import Backends

from .planned_content import Encoding

_NAME = "compact.figures"
PAGE = 500


@struct
class Figures:
    """How many contents are encoded, the bytes that saves, the longest chain, and how many contents wait."""

    encoded: int = 0
    saved: int = 0
    depth: int = 0
    waiting: int = 0


def is_counted(backends: Backends, row: type[StoredObject] = StoredObject) -> ColumnElement[bool]:
    """Return the condition that the bytes of an object count: it is current, and no second copy."""
    return and_(row.slot == CURRENT, row.key.is_not(None), ~is_second(backends, row))


def note_figures(database: Database, backends: Backends, waiting: int) -> None:
    """Count what is encoded, and note it. It takes longer the more contents there are."""
    with database.reading() as session:
        query = select(func.count(), func.coalesce(func.sum(StoredObject.size - OBJECT_SIZE), 0))
        query = query.where(is_counted(backends))
        encoded, saved = session.execute(query.where(StoredObject.encoding != Encoding.RAW)).one()
        figures = Figures(encoded=encoded, saved=int(saved), depth=_depth(session, backends), waiting=waiting)
    value = json.dumps(asdict(figures))

    def write(session: Session) -> None:
        session.merge(Installation(name=_NAME, value=value))
        note_unused(session, backends)

    database.write(write)


def read_figures(session: Session) -> Figures | None:
    """Return what the last run has counted; None if there was none, as after a recovery."""
    value = session.scalar(select(Installation.value).where(Installation.name == _NAME))
    return Figures(**json.loads(value)) if value else None


def is_any_encoded(session: Session) -> bool:
    """Return whether any object is encoded, also a second copy."""
    query = select(StoredObject.id).where(StoredObject.encoding.in_([Encoding.ZSTD, Encoding.DELTA]))
    return session.scalar(query.limit(1)) is not None


def _depth(session: Session, backends: Backends) -> int:
    """Return how many differences the longest chain has."""
    for depth in range(MOST_LEVELS):
        first = above = aliased(StoredObject)
        query = select(first.id).where(first.base_digest.is_not(None), is_counted(backends, first))
        for _ in range(depth):
            below = aliased(StoredObject)
            is_below = and_(below.digest == above.base_digest, below.storage == above.storage, below.slot == CURRENT)
            query = query.join(below, is_below).where(below.base_digest.is_not(None))
            above = below
        if session.scalar(query.limit(1)) is None:
            return depth
    return MOST_LEVELS


def measure_debt(session: Session, backends: Backends) -> int:
    """Return the bytes of contents that neither a file nor the trash has any more, and that others need as their base.

    An index finds the bases. Objects that only superseded ones need are not counted: they end with them.
    """
    return sum(_find_debt(session, backends).values())


def note_unused(session: Session, backends: Backends) -> None:
    """Note since when contents are in no use of their own: those that `measure_debt` counts."""
    content_ids = {content_id for content_id, _ in _find_debt(session, backends)}
    noted = set(session.scalars(select(Content.id).where(Content.unused_since.is_not(None))))
    for ids, value in ((noted - content_ids, None), (content_ids - noted, utc_now())):
        ordered = sorted(ids)
        for batch in batches(ordered, PAGE):
            page = update(Content).where(Content.id.in_(batch))
            session.execute(page.values(unused_since=value))


def _find_debt(session: Session, backends: Backends) -> dict[tuple[int, int], int]:
    """Return the sizes of such objects by the ids of their contents and their own."""
    query = select(StoredObject.content_id, StoredObject.id, OBJECT_SIZE, StoredObject.base_digest)
    query = query.join(Content, Content.id == StoredObject.content_id).where(is_counted(backends), ~is_used())
    needing, used = aliased(StoredObject), aliased(Content)
    bases = select(needing.base_digest).join(used, used.id == needing.content_id)
    needed = needing.base_digest.is_not(None), is_counted(backends, needing), is_used(used)
    debt = dict[tuple[int, int], int]()
    level = list(session.execute(query.where(Content.digest.in_(bases.where(*needed)))))
    while level:
        debt |= {(content_id or 0, id_): size for content_id, id_, size, _ in level}
        below = session.execute(query.where(Content.digest.in_([base for *_, base in level if base])))
        level = [row for row in below if (row[0] or 0, row[1]) not in debt]
    return debt
