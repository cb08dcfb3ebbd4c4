"""Decides which of the objects of contents are current: of those that are decodable, the one of the lowest rank.

The last step of each reconciliation: after a recovery, a merge, a sweep, and an adoption.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, aliased

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import Content, StoredObject

from ..storages.backends import Backends
from .decodable import find_path
from .gate import lock_contents
from .promises import find_promises
from .states import COPY, CURRENT, DELTA, FIRST, RAW, SOUND, UNKNOWN, ObjectState
from .supersession import supersede
from .uses import is_base_anywhere, is_used
from .wishes import find_storages, want

PAGE = 200


@dataclass(kw_only=True)
class Settled:
    """The number of used contents of which another object became current, and of objects that are wanted now."""

    current: int = 0
    wanted: int = 0

    def __add__(self, other: "Settled") -> "Settled":
        """Return both as one."""
        return Settled(current=self.current + other.current, wanted=self.wanted + other.wanted)


class Settlement:
    """Settles contents. It may be repeated; what is current and present stays so."""

    def __init__(
        self, database: Database, backends: Backends, *, keep_going: Callable[[], None] = lambda: None
    ) -> None:
        self._database = database
        self._backends = backends
        self._keep_going = keep_going

    def settle_all(self, *, keeps: timedelta) -> Settled:
        """Settle all contents that something uses or needs. What is not current is kept for the time `keeps`."""
        total = Settled()
        for ids in self._pages():
            total += self._database.write(partial(self.settle, ids, keeps))
        return total

    def settle(self, content_ids: Sequence[int], keeps: timedelta, session: Session) -> Settled:
        """Settle these contents in the transaction, and want what they lack in the storages that promise them."""
        lock_contents(session, content_ids)
        promises, done = find_promises(session, self._backends, content_ids), Settled()
        query = select(StoredObject).where(
            StoredObject.content_id.in_(content_ids), StoredObject.state.in_([*SOUND, ObjectState.FOUND])
        )
        rows = session.scalars(query.order_by(StoredObject.id).with_for_update()).all()
        places: dict[tuple[int, str], list[StoredObject]] = {}
        for row in rows:
            places.setdefault((row.content_id or 0, row.storage), []).append(row)
        changed = set[int]()
        for (content_id, storage), found in places.items():
            promise = promises[content_id]
            role = FIRST if storage in promise.homes or storage == self._backends.current else COPY
            left = [row for row in found if row.state != ObjectState.LEAVING or storage in promise.storages]
            if self._settle_place(session, content_id, storage, left, role, keeps) and promise.storages:
                changed.add(content_id)
        done.current = len(changed)
        _give_up_missing(session, content_ids, keeps)
        used = {id_: promise for id_, promise in promises.items() if promise.storages or promise.as_base}
        has = find_storages(session, content_ids)
        done.wanted = want(session, promises, {id_: promise.lacking(has[id_]) for id_, promise in used.items()})
        return done

    def _settle_place(
        self,
        session: Session,
        content_id: int,
        storage: str,
        found: list[StoredObject],
        role: str,
        keeps: timedelta,
    ) -> bool:
        """Choose the current object of a content in a storage. Return whether it is another one now."""
        ranks = {row.id: _rank(session, row) for row in found}
        best = min((row for row in found if ranks[row.id] is not None), key=lambda row: ranks[row.id], default=None)  # type: ignore[arg-type, return-value]
        current = session.scalar(_current_of(content_id, storage))
        if best is None or (current is not None and current.id == best.id):
            return False
        if current is not None and ranks.get(current.id) is not None:  # it is decodable: it stays
            best = None
        if current is not None and best is not None:
            supersede(session, current, keeps=keeps)
        now = read_clock(session)
        if best is not None:
            best.state, best.slot, best.role = ObjectState.PRESENT.value, CURRENT, role
            best.since, best.delete_after = now, None
        for row in found:
            if row is not best and row.state == ObjectState.FOUND and ranks[row.id] is not None:
                row.state, row.since = ObjectState.SUPERSEDED.value, now
        session.flush()
        return best is not None

    def _pages(self) -> Iterator[Sequence[int]]:
        after = 0
        while True:
            self._keep_going()
            query = select(Content.id).where(Content.id > after, is_used() | is_base_anywhere())
            with self._database.reading() as session:
                ids = session.scalars(query.order_by(Content.id).limit(PAGE)).all()
            if not ids:
                return
            yield ids
            after = ids[-1]


def _give_up_missing(session: Session, content_ids: Sequence[int], keeps: timedelta) -> None:
    """Let missing objects give up their places, if another storage has the content: there is nothing to read again."""
    session.flush()
    other = aliased(StoredObject)
    present = (other.content_id == StoredObject.content_id, other.state == ObjectState.PRESENT.value)
    missing = (StoredObject.content_id.in_(content_ids), StoredObject.state == ObjectState.MISSING.value)
    query = select(StoredObject).where(*missing, StoredObject.slot == CURRENT)
    is_elsewhere = select(other.id).where(*present, other.slot == CURRENT).correlate(StoredObject).exists()
    for row in session.scalars(query.where(is_elsewhere)).all():
        supersede(session, row, keeps=keeps)


def _current_of(content_id: int, storage: str) -> Select[StoredObject]:
    current = (StoredObject.content_id == content_id, StoredObject.storage == storage, StoredObject.slot == CURRENT)
    return select(StoredObject).where(*current)


def _rank(session: Session, row: StoredObject) -> tuple[int, bool, int] | None:
    """Return the rank of an object: how many others it needs; None if it cannot be decoded in its storage."""
    if row.encoding == UNKNOWN:
        return None
    newest = -row.id
    if row.encoding != DELTA:
        return 0, row.encoding != RAW, newest
    states = (*SOUND, ObjectState.FOUND)  # the base may be settled later

    def is_other(one: StoredObject) -> bool:
        return one.digest != row.digest

    path = find_path(session, row.base_digest or "", row.storage, allows=is_other, states=states)
    return None if path is None else (len(path), True, newest)
