"""Says which contents are used, and which storages have first and second copies: the conditions for all queries."""

from sqlalchemy import ColumnElement, CompoundSelect, and_, or_, select, union
from sqlalchemy.orm import aliased

from frepo_core.db.build_once import build_once
from frepo_core.db.models import Content, File, StoredObject, TrashEntry

from ..storages.backends import Backends
from .states import COPY, CURRENT, DELTA, ENDED, SOUND, ObjectState


def is_used(content: type[Content] = Content) -> ColumnElement[bool]:
    """Return the condition that a file or an entry of the trash uses a content.

    A version's file becomes an entry of the trash, and the other way round, in one transaction. So read both in one
    statement, as this condition does.
    """
    in_trash = select(TrashEntry.id).where(TrashEntry.content_id == content.id).exists()
    return or_(is_used_by_file(content), in_trash)


def is_used_by_file(content: type[Content] = Content) -> ColumnElement[bool]:
    """Return the condition that a plain file or a version uses a content."""
    return select(File.id).where(File.content_id == content.id).exists()


def is_base() -> ColumnElement[bool]:
    """Return the condition that an object in the same storage is stored as the difference to an object's content."""
    dependent = aliased(StoredObject)
    same = (dependent.base_digest == StoredObject.digest, dependent.storage == StoredObject.storage)
    return select(dependent.id).where(*same, dependent.state.not_in(ENDED)).correlate(StoredObject).exists()


def is_base_anywhere(content: type[Content] = Content) -> ColumnElement[bool]:
    """Return the condition that an object in any storage is stored as the difference to a content."""
    dependent = aliased(StoredObject)
    needs_it = (dependent.base_digest == content.digest, dependent.state.not_in(ENDED))
    return select(dependent.id).where(*needs_it).correlate(content).exists()


def is_second(backends: Backends, row: type[StoredObject] = StoredObject) -> ColumnElement[bool]:
    """Return the condition that an object is a second copy: made as one, unless its storage became the first one."""
    made_as_one = and_(row.role == COPY, row.storage != backends.current)
    return or_(made_as_one, row.storage == backends.mirror) if backends.mirror else made_as_one


def is_second_copy(backends: Backends, row: StoredObject) -> bool:
    """Return the same for a row."""
    return row.storage == backends.mirror or (row.role == COPY and row.storage != backends.current)


@build_once  # lists ask for it many times, and each alias of a model takes as long as a query
def is_lost(content: type[Content] = Content) -> ColumnElement[bool]:
    """Return the condition that no current object of a content is sound, or that none can be decoded."""
    return content.digest.in_(select_lost())


@build_once
def select_lost() -> CompoundSelect[str]:
    """Select the digests of the contents that are lost, and of those of which each sound object needs a lost one.

    A base is read from whatever object has it, also from one that was superseded.
    """
    content = aliased(Content)
    needing, stored, above = (aliased(StoredObject) for _ in range(3))
    lost = select(content.digest).where(_is_without_sound(content)).cte("lost")
    doubted = select(lost.c.digest).cte("doubted", recursive=True)
    needs_it = (needing.base_digest == doubted.c.digest, needing.state.in_(SOUND))
    doubted = doubted.union(select(needing.digest).where(*needs_it))
    is_own = or_(stored.encoding != DELTA, stored.base_digest.not_in(select(doubted.c.digest)))
    own = select(stored.digest).where(stored.digest == doubted.c.digest, stored.state.in_(SOUND), is_own)
    readable = own.cte("readable", recursive=True)
    is_above = (above.base_digest == readable.c.digest, above.state.in_(SOUND))
    readable = readable.union(select(above.digest).where(*is_above))
    unreadable = select(doubted.c.digest).where(doubted.c.digest.not_in(select(readable.c.digest)))
    return union(select(lost.c.digest), unreadable)


def _is_without_sound(content: type[Content]) -> ColumnElement[bool]:
    """Return the condition that no current object of a content is sound. An index finds the few that may be."""
    doubted, present = aliased(StoredObject), aliased(StoredObject)
    bad = (ObjectState.DAMAGED, ObjectState.MISSING)
    may_be = select(doubted.content_id).where(doubted.state.in_(bad), doubted.slot == CURRENT)
    sound = select(present.id).where(present.content_id == content.id, present.state == ObjectState.PRESENT.value)
    return and_(content.id.in_(may_be), ~sound.where(present.slot == CURRENT).correlate(content).exists())
