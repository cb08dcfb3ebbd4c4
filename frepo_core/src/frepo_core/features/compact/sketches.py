"""Stores the sketches of contents, which say how much two of them share."""

import struct
from collections.abc import Iterable, Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Content, ContentSketch
from frepo_core.services.base.batches import batches

from .encoder.sketcher import METHOD
from .likeness import BINS, Sketch, is_telling

PAGE = 500
_MINIMA = struct.Struct(f"<{BINS}I")


def read_sketches(session: Session, content_ids: Iterable[int]) -> dict[int, Sketch]:
    """Return the sketches of these contents that were made; an empty one if it says nothing."""
    ids, found = sorted(content_ids), dict[int, Sketch]()
    for batch in batches(ids, PAGE):
        page = ContentSketch.content_id.in_(batch)
        query = select(ContentSketch.content_id, ContentSketch.minima).where(page, ContentSketch.method == METHOD)
        found |= {content_id: telling(_MINIMA.unpack(minima)) for content_id, minima in session.execute(query)}
    return found


def telling(sketch: Sketch) -> Sketch:
    """Return a sketch, or an empty one if it says nothing: the content is small."""
    return sketch if is_telling(sketch) else ()


def note_sketch(session: Session, content_id: int, sketch: Sequence[int]) -> None:
    """Store the sketch of a content, if it is still there."""
    if session.scalar(select(Content.id).where(Content.id == content_id).with_for_update()) is None:
        return
    session.execute(delete(ContentSketch).where(ContentSketch.content_id == content_id))
    session.add(ContentSketch(content_id=content_id, method=METHOD, minima=_MINIMA.pack(*sketch)))
