"""Stores contents raw again: those that something waits for, and all of them before `compact` is given up."""

import logging
from collections.abc import Callable

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Content, StoredObject
from frepo_core.errors import FrepoError
from frepo_core.services.content.blobs.lifecycle import Blobs
from frepo_core.services.content.objects.states import CURRENT
from frepo_core.services.content.objects.uses import is_second

from .compact_report import CompactReport
from .content_encoder import ContentEncoder
from .encoding_switch import EncodingSwitch
from .planned_content import Encoding, Freedom

log = logging.getLogger(__name__)

PAGE = 100


class Expansion:
    """Expands contents in one run of the job, one after the other, and counts them in its report."""

    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        switch: EncodingSwitch,
        encoder: ContentEncoder,
        report: CompactReport,
        pace: Callable[[int], None],
    ) -> None:
        """`pace` is called with the bytes that were read back; it may end the run."""
        self._database = database
        self._blobs = blobs
        self._switch = switch
        self._encoder = encoder
        self._report = report
        self._pace = pace

    def expand_all(self, progress: Callable[[str], None]) -> None:
        """Expand all contents.

        First those of which nothing depends, so that each is read through as few others as possible afterwards.
        """
        after = 0
        while True:
            encoded = (StoredObject.encoding != Encoding.RAW, StoredObject.id > after, *self._is_first())
            query = select(StoredObject).where(*encoded).order_by(StoredObject.id).limit(PAGE)
            with self._database.reading() as session:
                rows = session.scalars(query).all()
            if not rows:
                return
            for row in rows:
                self.expand(row)
                progress(f"{self._report.expanded} contents expanded")
            after = rows[-1].id

    def expand_adopted(self, find_freedom: Callable[[Session, StoredObject], Freedom]) -> None:
        """Expand those contents that were uploaded again, unless they may be encoded meanwhile, by `find_freedom`."""
        query = select(StoredObject).join(Content, Content.id == StoredObject.content_id)
        query = query.where(Content.expand_since.is_not(None), *self._is_first()).order_by(Content.expand_since)
        with self._database.reading() as session:
            freedoms = [(row, find_freedom(session, row)) for row in session.scalars(query).all()]
        for row, freedom in freedoms:
            if freedom is Freedom.RAW:
                self.expand(row)
            elif freedom is not Freedom.NONE:
                settled = update(Content).where(Content.id == row.content_id)
                self._database.execute(settled.values(expand_since=None))

    def _is_first(self) -> tuple[ColumnElement[bool], ...]:
        return StoredObject.slot == CURRENT, StoredObject.key.is_not(None), ~is_second(self._blobs.backends)

    def expand(self, row: StoredObject) -> None:
        """Expand one content, as its row was read. If that fails, it is reported, unless it was deleted or changed."""
        try:
            if self._use_raw(row):
                self._report.expanded += 1
                self._report.before_size += row.object_size
                self._report.after_size += row.size
        except FrepoError as error:
            if is_unchanged(self._database, row):
                self._report.note_failure(f"content {row.digest}", error)
            else:
                self._report.skipped += 1

    def _use_raw(self, row: StoredObject) -> bool:
        """Decode a content in the process of low priority; in this one if that fails, where second copies are read."""
        if row.encoding == Encoding.RAW:
            return False
        try:
            with self._encoder.decoded(row) as path, path.open("rb") as content:
                return self._switch.use_raw(row, content, pace=self._pace)
        except FrepoError as error:
            log.warning("content %s is decoded by the worker: %s", row.digest, error.message)
        return self._switch.expand(row, pace=self._pace)


def is_unchanged(database: Database, *rows: StoredObject) -> bool:
    """Return whether objects are still current. Otherwise a failure to read them does not matter."""
    with database.reading() as session:
        return all(
            session.scalar(select(StoredObject.id).where(StoredObject.id == row.id, StoredObject.slot == CURRENT))
            for row in rows
        )
