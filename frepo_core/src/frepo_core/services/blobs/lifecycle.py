"""Blobs: stored once per content, adopted by rows in the same transaction, collected when the last row is gone."""

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Blob, File
from frepo_core.errors import DatabaseUnavailableError

from ..content.ingest import Content
from .backends import Backends
from .blob_write import BlobVanishedError, BlobWrite
from .failpoints import hit

log = logging.getLogger(__name__)

Result = TypeVar("Result")

STORE_ATTEMPTS = 5


class Blobs:
    """The only writer of blobs. No transaction is open while bytes move."""

    def __init__(self, database: Database, backends: Backends) -> None:
        self._database = database
        self._backends = backends

    def store(self, content: Content, work: Callable[[Session, Blob], Result]) -> Result:
        """Store the content if nobody has, then run `work` with its blob's row in one transaction.

        Only the transaction is tried again after a conflict, and what `work` raises undoes the store. Where
        a blob that was to be adopted, or that waited for the transaction, is gone by then, its bytes are stored again.
        """
        with BlobWrite(content, self._database, self._backends) as blob_write:

            def write(session: Session) -> Result:
                blob = blob_write.upsert_row(session)
                hit("attached")
                result = work(session, blob)
                hit("written")
                blob_write.check_not_swept()
                return result

            for _ in range(STORE_ATTEMPTS):
                blob_write.ensure_stored()
                try:
                    result = self._database.write(write, watch=blob_write.watch)
                    hit("committed")
                    return result
                except BlobVanishedError:
                    continue
            raise DatabaseUnavailableError("Too many others write the same content, try again later")

    def collect(self, blob_ids: Iterable[int]) -> None:
        """Delete blobs that no row uses any more: the row first, then the bytes, each in a transaction of its own.

        Never raises: what fails is logged and left to `storage:sweep`.
        """
        for blob_id in set(blob_ids):
            try:
                self._collect(blob_id)
            except Exception:
                log.exception("blob %s was not collected, storage:sweep will", blob_id)
        self._database.refill_reserve()

    def _collect(self, blob_id: int) -> None:
        hit("collect")
        found = self._database.write(lambda session: _drop_unused(session, blob_id), may_use_reserve=True)
        if found:
            hit("uncollected")
            storage, key = found
            self._backends.get(storage).delete(key)
            hit("collected")


def _drop_unused(session: Session, blob_id: int) -> tuple[str, str] | None:
    row = session.scalar(select(Blob).where(Blob.id == blob_id).with_for_update())
    if row is None or session.scalar(select(File.id).where(File.blob_id == blob_id).limit(1)):
        return None
    session.delete(row)
    return row.storage, row.key
