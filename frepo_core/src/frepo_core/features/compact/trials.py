"""Remembers with which bases contents were tried in vain, the last four, and whether compressing was in vain, too."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Content, EncodingTrial
from frepo_core.domain.structs import struct
from frepo_core.services.base.batches import batches

MOST = 4
# One that was tried with so many bases in vain waits so long before it is tried with another one.
PAUSE = timedelta(days=30)
PAGE = 500
# In place of a base: the content was compressed alone.
ALONE = ""


@struct
class Tried:
    """The ids of the bases that saved too little lately, None for compressing alone; and whether that is enough."""

    bases: frozenset[int | None] = frozenset()
    is_enough: bool = False


def read_tried(session: Session, content_ids: Iterable[int], now: datetime) -> dict[int, Tried]:
    """Return what was tried with these contents. Bases that are gone count, too."""
    ids, found = sorted(content_ids), defaultdict[int, list[tuple[str, int | None, datetime]]](list)
    trial = EncodingTrial
    for batch in batches(ids, PAGE):
        query = select(trial.content_id, trial.base_digest, Content.id, trial.tried_at)
        query = query.outerjoin(Content, Content.digest == trial.base_digest)
        query = query.where(trial.content_id.in_(batch))
        for content_id, digest, base_id, tried_at in session.execute(query):
            found[content_id].append((digest, base_id, tried_at))
    return {content_id: _sum_up(rows, now) for content_id, rows in found.items()}


def _sum_up(rows: list[tuple[str, int | None, datetime]], now: datetime) -> Tried:
    pairs = [(base_id, at) for digest, base_id, at in rows if digest != ALONE]
    known: set[int | None] = {base_id for base_id, _ in pairs if base_id is not None}
    alone = {None} if len(pairs) < len(rows) else set()
    is_enough = len(pairs) >= MOST and max(at for _, at in pairs) > now - PAUSE
    return Tried(bases=frozenset(known | alone), is_enough=is_enough)


def note_tried(session: Session, content_id: int, *digests: str) -> None:
    """Note that a content was tried in vain with these bases, `ALONE` for none. All but the last four are forgotten."""
    now, trial = utc_now(), EncodingTrial
    if session.scalar(select(Content.id).where(Content.id == content_id).with_for_update()) is None:
        return
    session.execute(delete(trial).where(trial.content_id == content_id, trial.base_digest.in_(digests)))
    session.add_all(trial(content_id=content_id, base_digest=digest, tried_at=now) for digest in digests)
    session.flush()
    pairs = select(trial.id).where(trial.content_id == content_id, trial.base_digest != ALONE)
    if old := session.scalars(pairs.order_by(trial.id.desc()).offset(MOST).limit(100)).all():
        session.execute(delete(trial).where(trial.id.in_(old)))
    session.execute(update(Content).where(Content.id == content_id).values(tried_at=now))
