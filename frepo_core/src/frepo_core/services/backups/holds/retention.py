"""The second line of a lock: storages that can are told to keep the bytes of locked versions, and their second copies.

After an upload to a locked collection this happens before the answer, and the job `retention` does the rest: bytes that
a later version shares, longer locks, second copies, and what a storage has not taken.
"""

import logging
from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import File, Retained, StoredObject, TrashEntry, Version
from frepo_core.errors import BlobNotFound, StorageError, StorageUnavailable

from ...content.objects.states import ObjectState
from ...content.storages.backends import Backends

log = logging.getLogger(__name__)

PAGE = 200
MOST_FAILED = 1000
FORGET_AFTER = timedelta(days=30)


class Retention:
    """Tells storages until when they keep which bytes."""

    def __init__(self, database: Database, backends: Backends) -> None:
        self._database = database
        self._backends = backends
        self._unable: set[str] = set()

    def retain(self, content_id: int) -> None:
        """Retain the bytes of one blob as long as a version with it is locked. Never raises: the job tries again."""
        try:
            self._retain(StoredObject.content_id == content_id, lambda: None)
        except Exception:
            log.exception("the bytes of blob %s were not retained, the job `retention` will do it", content_id)

    def retain_all(self, keep_going: Callable[[], None]) -> int:
        """Retain the bytes of all locked versions; return their number. `keep_going` is called before each.

        Raises `StorageUnavailable` at the end if some were not retained.
        """
        retained, failed = self._retain(StoredObject.id.is_not(None), keep_going) if self._has_locks() else (0, [])
        self._database.execute(delete(Retained).where(Retained.until < utc_now() - FORGET_AFTER))
        if failed:
            raise StorageUnavailable(
                f"{len(failed)} blobs of locked versions could not be retained; the log has the reasons: "
                f"{', '.join(failed[:10])}"
            )
        return retained

    def _has_locks(self) -> bool:
        """Return whether anything is locked: an index knows it, the queries of `_find` may read all blobs."""
        with self._database.reading() as session:
            models: tuple[type[Version | TrashEntry], ...] = (Version, TrashEntry)
            return any(session.scalar(select(one.id).where(one.locked_until > utc_now()).limit(1)) for one in models)

    def _retain(self, which: ColumnElement[bool], keep_going: Callable[[], None]) -> tuple[int, list[str]]:
        retained, failed = 0, set[str]()
        while len(failed) < MOST_FAILED and (todo := self._find(which, failed)):
            for storage, key, until in todo:
                if storage in self._unable:
                    continue
                keep_going()
                try:
                    if self._backends.get(storage).retain(key, until):
                        self._note(storage, key, until)
                        retained += 1
                    else:
                        self._unable.add(storage)
                except BlobNotFound:
                    failed.add(key)  # the sweep reports it
                except StorageError as error:
                    log.warning("the blob %s in %s was not retained: %s", key, storage, error.message)
                    failed.add(key)
        return retained, sorted(failed)

    def _find(self, which: ColumnElement[bool], failed: Collection[str]) -> list[tuple[str, str, datetime]]:
        with self._database.reading() as session:
            return [
                (row[0], row[1], row[2])
                for query in self._queries(which, failed)
                for row in session.execute(query.limit(PAGE))
            ]

    def _queries(self, which: ColumnElement[bool], failed: Collection[str]) -> Iterator[Any]:
        """Yield the queries of what is to be retained: blobs of versions and of the trash, and the copies of both."""
        now = utc_now()
        versions = select(File.content_id.label("content_id"), Version.locked_until.label("until"))
        versions = versions.join(File, File.id == Version.file_id).where(Version.locked_until > now)
        trash = select(TrashEntry.content_id, TrashEntry.locked_until.label("until")).where(
            TrashEntry.locked_until > now
        )
        place = StoredObject
        for locked in (versions.subquery(), trash.subquery()):
            query = select(place.storage, place.key, func.max(locked.c.until)).select_from(locked)
            is_present = (place.content_id == locked.c.content_id) & (place.state == ObjectState.PRESENT.value)
            query = query.join(place, is_present)
            is_known = (Retained.storage == place.storage) & (Retained.key == place.key)
            query = query.outerjoin(Retained, is_known)
            query = query.where(which, place.storage.not_in(self._unable), place.key.not_in(failed))
            query = query.where(Retained.until.is_(None) | (Retained.until < locked.c.until))
            yield query.group_by(place.storage, place.key)

    def _note(self, storage: str, key: str, until: datetime) -> None:
        def work(session: Session) -> None:
            row = session.get(Retained, (storage, key)) or Retained(storage=storage, key=key, until=until)
            row.until = max(row.until, until)
            session.add(row)

        self._database.write(work)
