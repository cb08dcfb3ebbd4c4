"""Says what in the trash may end early, and in which order.

Versions that were created last end first, because all that an attacker or a runaway script adds is younger than the
good versions. Those that a person has deleted end after all evicted ones. Bytes are freed only with the last entry that
uses them, so the entries of one blob end together, when it is the turn of the one that ends last. An entry whose bytes
a version or a file uses is passed over, and so is one that is locked or on hold. The newest good version of a
collection never ends in the trash. One that a collection in another storage has in the trash, too, is passed over: that
storage has room. The base of a blob that may not end may not end either; if all that depends on it may, those end with
it.
"""

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select
from sqlalchemy.orm import Session, aliased

from frepo_core.db.models import OBJECT_SIZE, Collection, Content, DeletedCollection, StoredObject, TrashEntry

from ...content.objects.states import CURRENT
from ...content.objects.uses import is_used_by_file
from ..rows.holds import is_held
from ..rows.locks import is_unlocked
from ..rows.removal import ON_REQUEST
from .last_good import select_last_good


def may_end(session: Session, content_id: int | None = None) -> ColumnElement[bool]:
    """Return the condition that a content may be deleted early. With an id, it is as fast as possible for this one."""
    return ~_must_stay(session, Content, content_id) & Content.digest.not_in(_needed_bases(session))


def _must_stay(session: Session, content: type[Content], content_id: int | None = None) -> ColumnElement[bool]:
    """Return the condition that a file uses a content, or that an entry of the trash does which may not end."""
    is_locked = ~is_unlocked(TrashEntry.locked_until, session)
    locked = select(TrashEntry.content_id).where(TrashEntry.locked_until.is_not(None), is_locked)
    held = select(TrashEntry.content_id).where(is_held())
    kept = (_kept_contents(content_id), locked, held)
    return or_(is_used_by_file(content), *(content.id.in_(query) for query in kept))


def _needed_bases(session: Session) -> Select[str]:
    """Return a query for the digests of bases of contents that must stay, and of the bases of these."""
    dependent, row, above = aliased(Content), aliased(StoredObject), aliased(StoredObject)
    direct = select(row.base_digest).join(dependent, dependent.id == row.content_id)
    direct = direct.where(row.base_digest.is_not(None), row.slot == CURRENT, _must_stay(session, dependent))
    needed = direct.cte("needed_base", recursive=True)
    further = select(above.base_digest).join(needed, above.digest == needed.c.base_digest)
    further = further.where(above.base_digest.is_not(None), above.slot == CURRENT)
    return select(needed.union(further).c.base_digest)


def is_of_others(storage: str, first: str) -> ColumnElement[bool]:
    """Return the condition that an entry of a collection which is stored elsewhere uses a content.

    `first` is the storage of those that name none. A deleted collection has the storage that it had.
    """
    is_of = and_(
        Collection.id == TrashEntry.collection_id,
        func.coalesce(Collection.incarnation, Collection.id) == TrashEntry.incarnation,
    )
    former = DeletedCollection.settings["storage"].as_string()
    home = func.coalesce(case((Collection.id.is_not(None), Collection.storage), else_=former), first)
    entries = select(TrashEntry.id).outerjoin(Collection, is_of)
    entries = entries.outerjoin(DeletedCollection, DeletedCollection.incarnation == TrashEntry.incarnation)
    return entries.where(TrashEntry.content_id == Content.id, home != storage).correlate(Content).exists()


def select_next(session: Session, storage: str, first: str, count: int) -> Select[int, int]:
    """Return a query for contents that only the trash uses, with their stored sizes, those that end first first."""
    on_request = case((TrashEntry.reason.in_([reason.value for reason in ON_REQUEST]), 1), else_=0)
    return (
        select(Content.id, OBJECT_SIZE)
        .join(TrashEntry, TrashEntry.content_id == Content.id)
        .join(StoredObject, _is_in(storage))
        .where(may_end(session), ~is_of_others(storage, first))
        .group_by(Content.id, OBJECT_SIZE)
        .order_by(func.max(on_request), func.min(TrashEntry.created_at).desc(), Content.id.desc())
        .limit(count)
    )


def measure_size(session: Session, storage: str, first: str) -> int:
    """Return how many bytes in a storage are freed if all ends that may end."""
    is_in_trash = select(TrashEntry.id).where(TrashEntry.content_id == Content.id).exists()
    query = select(func.sum(OBJECT_SIZE)).select_from(Content).join(StoredObject, _is_in(storage))
    return int(session.scalar(query.where(is_in_trash, may_end(session), ~is_of_others(storage, first))) or 0)


def _is_in(storage: str) -> ColumnElement[bool]:
    """Return the condition that joins a content with its bytes in a storage."""
    return and_(
        StoredObject.content_id == Content.id,
        StoredObject.storage == storage,
        StoredObject.slot == CURRENT,
        StoredObject.key.is_not(None),
    )


def _kept_contents(content_id: int | None) -> Select[int]:
    """Return a query for the contents of versions in the trash that are the newest good one of their collection."""
    of_blob = select(TrashEntry.incarnation).where(TrashEntry.content_id == content_id)
    newest = select_last_good(*([] if content_id is None else [TrashEntry.incarnation.in_(of_blob)])).subquery()
    is_newest = and_(TrashEntry.incarnation == newest.c.incarnation, TrashEntry.number == newest.c.number)
    return select(TrashEntry.content_id).join(newest, is_newest)
