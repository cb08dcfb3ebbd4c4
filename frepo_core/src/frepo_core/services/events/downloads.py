"""Records downloads as events, if `events.downloads` is on."""

import logging

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Version
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor, Identity
from frepo_core.settings import Settings

from ..base.change_log import file_values
from ..base.records import FileRecord, TrashedFile
from .recording import NewEvent, record

log = logging.getLogger(__name__)


class DownloadEvents:
    """Records who has downloaded what. An error while recording is logged and does not end the download."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._is_on = settings.events_downloads and not settings.read_only

    def record(self, file: FileRecord, *, by: Identity | None, address: str) -> None:
        """Record that an answer with a file or a part of it begins. `by` is None for a client without a token."""
        if not self._is_on:
            return
        actor = by or Actor(name="anonymous", address=address)
        try:
            self._database.write(lambda session: _write(session, file, actor))
        except Exception:
            log.exception("file %s: a download was not recorded as an event", file.id)


def _write(session: Session, file: FileRecord, by: Identity | Actor) -> None:
    if isinstance(file, TrashedFile):
        event = NewEvent(
            kind=EventKind.VERSION_DOWNLOADED,
            by=by,
            collection_id=file.collection_id,
            version_number=file.number,
            data={**file_values(file), "in_trash": True},
        )
        record(session, event)
        return
    query = select(Version.collection_id, Version.number).where(Version.file_id == file.id)
    row = session.execute(query).one_or_none() if file.is_version else None
    event = NewEvent(
        kind=EventKind.VERSION_DOWNLOADED if file.is_version else EventKind.FILE_DOWNLOADED,
        by=by,
        collection_id=row.collection_id if row else None,
        version_number=row.number if row else None,
        file_id=file.id,
        data=file_values(file),
    )
    record(session, event)
