"""Compares contents with their objects: once a day, and when the mirror of the service or a collection was changed.

A content that lacks an object in a storage that promises it gets a wish for one. A copy that nothing wants any more
begins to leave.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import Collection, Content, File, Installation, StoredObject, TrashEntry, Version
from frepo_core.services.content.objects.gate import lock_contents
from frepo_core.services.content.objects.promises import find_promises
from frepo_core.services.content.objects.states import CURRENT, ObjectState
from frepo_core.services.content.objects.uses import is_base_anywhere, is_second_copy, is_used
from frepo_core.services.content.objects.wishes import COMPARED, find_storages, want, want_all
from frepo_core.services.content.storages.backends import Backends

PAGE = 500
AGAIN_AFTER = timedelta(hours=24)
# What the names of the values in the table `installation` begin with that name collections whose mirror was changed.
CHANGED = "mirror.changed."


def _name(backends: Backends) -> str:
    return (COMPARED + (backends.mirror or ""))[:64]


def read_compared_at(session: Session, backends: Backends) -> datetime | None:
    """Return when all contents were compared with their objects the last time (UTC, aware), None for never."""
    found = session.get(Installation, _name(backends))
    return datetime.fromisoformat(found.value) if found else None


def is_compared(session: Session, backends: Backends) -> bool:
    """Return whether it is known which contents lack copies: not before the first comparison, as after a recovery.

    Nor between a change of a collection's mirror and the comparison after it. Without contents, nothing lacks a copy.
    """
    changed = select(Installation.name).where(Installation.name.startswith(CHANGED, autoescape=True))
    if read_compared_at(session, backends) is not None and session.scalar(changed.limit(1)) is None:
        return True
    return session.scalar(select(Content.id).limit(1)) is None


def _note_compared(name: str, now: datetime, session: Session) -> None:
    """Note the time for this mirror only: when the service has another one, or the same again, all is compared."""
    others = Installation.name.startswith(COMPARED, autoescape=True) & (Installation.name != name)
    session.execute(delete(Installation).where(others))
    session.merge(Installation(name=name, value=now.isoformat()))


def note_change(session: Session, collection_id: str) -> None:
    """Let the next run compare what the collection has with its objects, because its mirror was changed."""
    session.merge(Installation(name=CHANGED + collection_id, value=read_clock(session).isoformat()))


@dataclass(kw_only=True)
class Compared:
    """The number of objects that were missing, and of those that begin to leave."""

    wanted: int = 0
    leaving: int = 0


class Gaps:
    """Compares contents with their objects, page by page. What is unwanted stays for the time `delay`."""

    def __init__(
        self, database: Database, backends: Backends, *, delay: timedelta, keep_going: Callable[[], None]
    ) -> None:
        self._database = database
        self._backends = backends
        self._delay = delay
        self._keep_going = keep_going

    def compare(self) -> Compared:
        """Compare what collections have whose mirror was changed; once in 24 hours, compare all."""
        done = Compared()
        for collection_id, at in self._changed():
            self._compare(self._pages_of(collection_id), done)
            noted = Installation.name == CHANGED + collection_id
            self._database.execute(delete(Installation).where(noted, Installation.value == at))
        name = _name(self._backends)
        with self._database.reading() as session:
            now = read_clock(session)
            last = session.scalar(select(Installation.value).where(Installation.name == name))
            is_needed = self._backends.mirror or session.scalar(
                select(Collection.id).where(Collection.mirror.is_not(None)).limit(1)
            )
        if last is None or abs(now - datetime.fromisoformat(last)) >= AGAIN_AFTER:
            if is_needed:
                self._compare(self._pages(or_(is_used(), is_base_anywhere())), done)
            self._database.write(partial(_note_compared, name, now))
        return done

    def fill(self, storage: str) -> int:
        """Insert the wishes that are missing for one storage; return their number.

        If nothing names the storage as its mirror, that is for all contents with the mirror of the service.
        """
        with self._database.reading() as session:
            is_named = session.scalar(select(Collection.id).where(Collection.mirror == storage).limit(1))
        is_other, filled = not is_named and storage != self._backends.mirror, 0
        for ids in self._pages(is_used()):
            filled += self._database.write(partial(self._fill, ids, storage, is_other))
        return filled

    def _fill(self, content_ids: Sequence[int], storage: str, is_other: bool, session: Session) -> int:
        promises, has = find_promises(session, self._backends, content_ids), find_storages(session, content_ids)
        wanted = {
            id_: {storage}
            for id_, promise in promises.items()
            if storage not in has[id_] and (storage in promise.storages or (is_other and promise.keeps_others))
        }
        return want(session, promises, dict(wanted))

    def _changed(self) -> Sequence[tuple[str, str]]:
        """Return the ids of the collections whose mirror was changed, and the time of the change."""
        with self._database.reading() as session:
            rows = select(Installation).where(Installation.name.startswith(CHANGED, autoescape=True))
            found = session.scalars(rows.order_by(Installation.value)).all()
        return [(row.name.removeprefix(CHANGED), row.value) for row in found]

    def _pages_of(self, collection_id: str) -> Iterator[Sequence[int]]:
        versions = select(File.content_id).join(Version, Version.file_id == File.id)
        incarnation = select(func.coalesce(Collection.incarnation, Collection.id)).where(Collection.id == collection_id)
        trash = select(TrashEntry.content_id).where(TrashEntry.incarnation.in_(incarnation))
        of_versions = Content.id.in_(versions.where(Version.collection_id == collection_id))
        return self._pages(or_(of_versions, Content.id.in_(trash)))

    def _pages(self, condition: ColumnElement[bool]) -> Iterator[Sequence[int]]:
        after = 0
        while True:
            self._keep_going()
            query = select(Content.id).where(Content.id > after, condition).order_by(Content.id).limit(PAGE)
            with self._database.reading() as session:
                ids = session.scalars(query).all()
            if not ids:
                return
            yield ids
            after = ids[-1]

    def _compare(self, pages: Iterator[Sequence[int]], done: Compared) -> None:
        for ids in pages:
            with self._database.reading() as session:
                lacking, surplus = self._differences(session, ids)
            if lacking:
                done.wanted += self._database.write(partial(self._want, lacking))
            if surplus:
                done.leaving += self._database.write(partial(self._release, list(surplus)))

    def _want(self, content_ids: Sequence[int], session: Session) -> int:
        lock_contents(session, content_ids)
        return want_all(session, self._backends, content_ids)

    def _release(self, content_ids: Sequence[int], session: Session) -> int:
        """Let copies begin to leave that nothing wants, if that is still so: nobody begins to use a locked content."""
        lock_contents(session, content_ids)
        rows, now = self._differences(session, content_ids)[1].values(), read_clock(session)
        surplus = [row for of_content in rows for row in of_content]
        for row in surplus:
            if row.key is None:
                session.delete(row)
            else:
                row.state, row.slot, row.since = ObjectState.LEAVING.value, None, now
                row.delete_after, row.next_try = now + self._delay, now
        return len(surplus)

    def _differences(
        self, session: Session, content_ids: Sequence[int]
    ) -> tuple[list[int], dict[int, list[StoredObject]]]:
        """Return which contents lack objects, and the copies that nothing wants, by the id of their content.

        A copy is wanted until those that shall be there instead are present, and while a locked version has its bytes.
        """
        promises = find_promises(session, self._backends, content_ids)
        current = select(StoredObject).where(StoredObject.slot == CURRENT, StoredObject.content_id.in_(content_ids))
        found: dict[int, dict[str, StoredObject]] = {id_: {} for id_ in content_ids}
        for row in session.scalars(current):
            found[row.content_id or 0][row.storage] = row
        lacking, surplus = [], dict[int, list[StoredObject]]()
        for id_, promise in promises.items():
            has, wanted = found[id_], promise.storages | promise.as_base
            present = {name for name, row in has.items() if row.state == ObjectState.PRESENT}
            if promise.lacking(set(has)):
                lacking.append(id_)
            elif promise.storages and not promise.keeps_others and wanted & set(has) <= present:
                rows = [row for name, row in has.items() if name not in wanted and is_second_copy(self._backends, row)]
                surplus |= {id_: rows} if rows and wanted & present else {}
        for id_ in _find_locked(session, list(surplus)) if surplus else ():
            del surplus[id_]
        return lacking, surplus


def _find_locked(session: Session, content_ids: Sequence[int]) -> set[int]:
    """Return those of the contents that have the bytes of a locked version: their copies stay."""
    now = read_clock(session)
    versions = select(File.content_id).join(Version, Version.file_id == File.id)
    versions = versions.where(File.content_id.in_(content_ids), Version.locked_until > now)
    trash = select(TrashEntry.content_id).where(TrashEntry.content_id.in_(content_ids), TrashEntry.locked_until > now)
    return {*session.scalars(versions), *session.scalars(trash)}
