"""What compact storage saves, as the last run of the job has counted it: reports read one row."""

import json
from dataclasses import asdict, dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from frepo_core.db import Database
from frepo_core.db.models import OBJECT_SIZE, Blob, Installation, TrashEntry
from frepo_core.domain.backups.compaction import Encoding

from ...content.blobs.blob_use import is_used_by_file
from ...content.chains.chain_places import MOST_LEVELS

_NAME = "compact.figures"


@dataclass(frozen=True, kw_only=True)
class Figures:
    """How many contents are encoded, the bytes that saves, the longest chain, and how many contents wait."""

    encoded: int = 0
    saved: int = 0
    depth: int = 0
    waiting: int = 0


def note_figures(database: Database, waiting: int) -> None:
    """Count what is encoded, and note it. It takes longer the more contents there are."""
    with database.reading() as session:
        query = select(func.count(), func.coalesce(func.sum(Blob.size - OBJECT_SIZE), 0)).select_from(Blob)
        encoded, saved = session.execute(query.where(Blob.encoding != Encoding.RAW)).one()
        figures = Figures(encoded=encoded, saved=int(saved), depth=_depth(session), waiting=waiting)
    value = json.dumps(asdict(figures))
    database.write(lambda session: session.merge(Installation(name=_NAME, value=value)))


def read_figures(session: Session) -> Figures:
    """Return what the last run has counted."""
    value = session.scalar(select(Installation.value).where(Installation.name == _NAME))
    return Figures(**json.loads(value)) if value else Figures()


def _depth(session: Session) -> int:
    """Return how many differences the longest chain has."""
    for depth in range(MOST_LEVELS):
        first = above = aliased(Blob)
        query = select(first.id).where(first.base_id.is_not(None))
        for _ in range(depth):
            below = aliased(Blob)
            query = query.join(below, below.id == above.base_id).where(below.base_id.is_not(None))
            above = below
        if session.scalar(query.limit(1)) is None:
            return depth
    return MOST_LEVELS


def measure_debt(session: Session) -> int:
    """Return the bytes of contents that neither a file nor the trash has any more, and that others need as their base.

    An index finds the bases.
    """
    bases = select(Blob.base_id).where(Blob.base_id.is_not(None))
    in_trash = select(TrashEntry.id).where(TrashEntry.blob_id == Blob.id).exists()
    query = select(func.coalesce(func.sum(OBJECT_SIZE), 0)).where(Blob.id.in_(bases))
    return int(session.scalar(query.where(~is_used_by_file(), ~in_trash)) or 0)
