"""Finds what has changed since the last part of the journal, by the events: each change is recorded with one.

The journal contains objects in their present state, so several changes of one object are one line, and a line may be
repeated without harm. What changes without an event, such as the last use of a token, is in the next catalogue.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, func, or_, select, tuple_
from sqlalchemy.orm import Session

from frepo_core.db.models import (
    Collection,
    CollectionToken,
    DeletedCollection,
    Event,
    PluginRowChange,
    Token,
    TrashEntry,
    Version,
)
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.structs import struct
from frepo_core.services.base.batches import batches
from frepo_core.services.events.numbering import LAST_POSITION

from .objects import FoundObject, ObjectKind

# More changes at once than this are left to a catalogue.
MOST = 50_000
_CHUNK = 500
_NO_CHANGES = (
    EventKind.VERSION_DOWNLOADED,
    EventKind.FILE_DOWNLOADED,
    EventKind.VERSION_REFUSED,
    EventKind.UPLOAD_ABORTED,
    EventKind.MESSAGE_SENT,
    EventKind.JOB_FAILED,
    EventKind.JOB_RECOVERED,
    EventKind.STORAGE_FULL,
    EventKind.STORAGE_UNAVAILABLE,
    EventKind.STORAGE_RECOVERED,
    EventKind.STORAGE_DISPUTED,
)
_ALIASES = {EventKind.ALIAS_CREATED, EventKind.ALIAS_EDITED, EventKind.ALIAS_DELETED}
Keys = dict[str, set[tuple[Any, ...]]]


@struct
class Changes:
    """The keys of the objects that have changed, by the names of their kinds.

    `of_rows` are the ids of the changes of rows of plug-ins, which have no events.
    """

    keys: Mapping[str, set[tuple[Any, ...]]]
    kinds: Mapping[str, ObjectKind]
    of_rows: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return any(self.keys.values())

    def objects(self, session: Session) -> Iterable[tuple[str, tuple[Any, ...], list[dict[str, Any]]]]:
        """Yield name, key and present state of each object; the state of one that was removed is empty."""
        for name, keys in self.keys.items():
            ordered = sorted(keys)
            for chunk in batches(ordered, _CHUNK):
                states: dict[tuple[Any, ...], list[dict[str, Any]]] = {key: [] for key in chunk}
                for key, values in _find(session, self.kinds[name], chunk):
                    states[key].append(values)
                yield from ((name, key, state) for key, state in states.items())


def find_last_position(session: Session) -> int:
    """Return the highest position that an event ever had, as far as is known; 0 without one."""
    return max(position or 0 for position in session.execute(LAST_POSITION).one())


def find_anchor(session: Session) -> dict[str, Any]:
    """Return the position and the link of the last event: what a storage keeps of it shows later changes."""
    last = (
        select(Event.position, Event.link).where(Event.position.is_not(None)).order_by(Event.position.desc()).limit(1)
    )
    row = session.execute(last).one_or_none()
    return {"linked": row.position, "link": row.link} if row and row.link else {}


def find_changes(session: Session, since: int, kinds: Sequence[ObjectKind]) -> Changes | None:
    """Return what has changed since the event with this position; None if that is too much, or no longer known.

    Events without a position are included: they will get one soon, and are found again then.
    """
    is_new = or_(Event.position > since, Event.position.is_(None))
    query = select(
        Event.id, Event.kind, Event.collection_id, Event.version_number, Event.file_id, Event.token, Event.data
    )
    changing = query.where(is_new, Event.kind.not_in(_NO_CHANGES)).limit(MOST + 1)
    events = session.execute(changing).all()
    if len(events) > MOST or not _is_known(session, since):
        return None
    keys: Keys = defaultdict(set)
    for event in events:
        _note(keys, event, kinds)
    _add_lists_of_tokens(session, keys)
    _add_moved(session, keys, {event.collection_id for event in events if event.kind == EventKind.COLLECTION_MOVED})
    of_rows = _add_rows_of_plugins(session, keys)
    return Changes(keys=keys, kinds={kind.name: kind for kind in kinds}, of_rows=of_rows)


def _add_rows_of_plugins(session: Session, keys: Keys) -> frozenset[int]:
    """Add the rows of plug-ins that have changed; return the ids of the changes. More than `MOST` wait for the next."""
    rows = session.execute(select(*PluginRowChange.__table__.columns).order_by(PluginRowChange.id).limit(MOST)).all()
    if rows:
        keys["plugin_row"] |= {(row.plugin, row.table_name, row.row_key) for row in rows}
    return frozenset(row.id for row in rows)


def _is_known(session: Session, since: int) -> bool:
    """Return whether no event after this one was deleted because of its age."""
    first = session.scalar(select(func.min(Event.position)).where(Event.position >= since))
    return find_last_position(session) == since or (first is not None and first <= since + 1)


def _note(keys: Keys, event: Row[Any], kinds: Sequence[ObjectKind]) -> None:
    """Add the keys of all objects that an event is about."""
    keys["event"].add((event.id,))
    if event.token:
        keys["token"].add((event.token,))
    if replacement := event.data.get("replaced_by") if event.kind == EventKind.TOKEN_ROTATED else None:
        keys["token"].add((replacement,))
    if event.kind in _ALIASES:
        keys["alias"].add((event.data["name"],))
    for kind in kinds:
        if kind.named_by and (name := event.data.get(kind.named_by)):
            keys[kind.name].add((name,))
    users = event.data.get("used_by") if event.kind in {EventKind.BLOB_HEALED, EventKind.BLOB_DAMAGED} else None
    for one in [event._asdict(), *(users or ())]:
        _note_content(keys, one)


def _note_content(keys: Keys, about: Mapping[str, Any]) -> None:
    collection, number = about.get("collection_id"), about.get("version_number")
    if collection:
        keys["collection"].add((collection,))
        keys["deleted_collection"].add((collection,))
        if number:
            keys["version"].add((collection, number))
            keys["trash"].add((collection, number))
    elif file := about.get("file_id"):
        keys["file"].add((file,))


def _add_lists_of_tokens(session: Session, keys: Keys) -> None:
    """Add the collections on whose list a changed token is: a new one may have got the place of another."""
    tokens = [key[0] for key in keys.get("token", ())]
    for batch in batches(tokens, _CHUNK):
        query = select(CollectionToken.collection_id).join(Token, Token.key == CollectionToken.token_key)
        found = session.scalars(query.where(Token.fingerprint.in_(batch)))
        keys["collection"] |= {(collection,) for collection in found}


def _add_moved(session: Session, keys: Keys, collections: set[str]) -> None:
    """Add all versions of collections that were moved: their contents have other keys now."""
    for collection in collections:
        for name, model in (("version", Version), ("trash", TrashEntry)):
            numbers = session.scalars(select(model.number).where(model.collection_id == collection))
            keys[name] |= {(collection, number) for number in numbers}


def _find(session: Session, kind: ObjectKind, keys: list[tuple[Any, ...]]) -> list[FoundObject]:
    return kind.find_where(session, _is_in_trash(session, keys)) if kind.name == "trash" else kind.find(session, keys)


def _is_in_trash(session: Session, keys: list[tuple[Any, ...]]) -> ColumnElement[bool]:
    """Return the condition for versions in the trash, which are found by the incarnations of their collections."""
    ids = {key[0] for key in keys}
    incarnations: dict[str, set[str]] = {one: {one} for one in ids}
    live = select(Collection.id, Collection.incarnation).where(Collection.id.in_(ids))
    deleted = select(DeletedCollection.collection_id, DeletedCollection.incarnation)
    for query in (live, deleted.where(DeletedCollection.collection_id.in_(ids))):
        for collection, incarnation in session.execute(query):
            incarnations[collection].add(incarnation or collection)
    pairs = [(incarnation, number) for one, number in keys for incarnation in incarnations[one]]
    is_same = TrashEntry.collection_id.in_(ids)
    return tuple_(TrashEntry.incarnation, TrashEntry.number).in_(pairs) & is_same
