"""Writes what is left of uploads that were replaced long ago: their events, samples of sizes, and runs of jobs."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import insert, update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, Event, Sample
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By
from frepo_core.domain.naming import version_name
from frepo_core.services.events.recording import NewEvent, event_row

from .catalogue import DAY
from .uploads import RECENT, Past, Upload

BATCH = 1000


class PastEvents:
    """Collects events of the past, and writes them in batches. They are added in the order of their times."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows: list[dict[str, Any]] = []
        self._numbers: dict[str, int] = {}

    def add(self, event: NewEvent, at: datetime) -> None:
        """Note an event that happened at this time."""
        self._rows.append(event_row(event, at))

    def add_version(self, collection_id: str, past: Past, upload: Upload, *, by: By) -> None:
        """Note what happened when a version was uploaded: the versions that it replaced were evicted.

        If the version itself was evicted later, note that it was added, too. Otherwise the caller uploads it.
        """
        data = {"replaced_by": upload.number}
        for old in past.replaced.get(upload.number, ()):
            self.add(_event(EventKind.VERSION_EVICTED, collection_id, past, past.uploads[old - 1], by, data), upload.at)
        if upload.number in past.gone:
            self.add(_event(EventKind.VERSION_ADDED, collection_id, past, upload, by, {}), upload.at)
            self._numbers[collection_id] = upload.number

    def flush(self) -> None:
        """Write what was collected. The next version of a collection gets the number after the last one."""
        rows, numbers = self._rows, self._numbers
        self._rows, self._numbers = [], {}
        if rows:
            self._database.write(lambda session: _write(session, rows, numbers))


def _event(
    kind: EventKind, collection_id: str, past: Past, upload: Upload, by: By, data: Mapping[str, Any]
) -> NewEvent:
    digest = hashlib.sha256(upload.content.encode()).hexdigest()
    values = {"name": version_name(past.plan.name, upload.number), "size": upload.size, "sha256": digest, **data}
    return NewEvent(kind=kind, by=by, collection_id=collection_id, version_number=upload.number, data=values)


def _write(session: Session, rows: Sequence[Mapping[str, Any]], numbers: Mapping[str, int]) -> None:
    for start in range(0, len(rows), BATCH):
        session.execute(insert(Event), rows[start : start + BATCH])
    for collection_id, number in numbers.items():
        session.execute(update(Collection).where(Collection.id == collection_id).values(last_number=number))


def write_samples(database: Database, pasts: Mapping[str, Past], now: datetime) -> int:
    """Write the daily samples of collections (by id) and of the service until the recent days; return their number."""
    first = min((past.created_at for past in pasts.values()), default=now)
    midnight = now.replace(hour=0, minute=5, second=0, microsecond=0)
    moments = [midnight - days * DAY for days in range((now - first).days + 1, RECENT // DAY - 1, -1)]
    totals: dict[datetime, Counter[str]] = {moment: Counter() for moment in moments}
    rows: list[dict[str, Any]] = []
    for collection_id, past in pasts.items():
        for row in _daily(past, [moment for moment in moments if moment > past.created_at]):
            of_service = {"size": row.pop("stored"), "sent": row["size"], "uploads": row.pop("uploads")}
            totals[row["at"]].update(of_service | {"versions": row["versions"], "blobs": row["blobs"]})
            rows.append({**row, "collection_id": collection_id, "sent": None, "uploads": None, "refusals": None})
    empty = dict.fromkeys(("versions", "size", "blobs", "sent", "uploads", "refusals"), 0)
    rows += [{"at": at, "collection_id": None, **empty, **total} for at, total in totals.items()]

    def work(session: Session) -> None:
        for start in range(0, len(rows), BATCH):
            session.execute(insert(Sample), rows[start : start + BATCH])

    database.write(work)
    return len(rows)


def _daily(past: Past, moments: Sequence[datetime]) -> Iterator[dict[str, Any]]:
    """Yield what the collection held at each moment: `stored` counts equal contents once, `size` each time."""
    kept: dict[int, Upload] = {}
    place = 0
    for moment in moments:
        before = place
        while place < len(past.uploads) and past.uploads[place].at <= moment:
            upload = past.uploads[place]
            kept[upload.number] = upload
            for old in past.replaced.get(upload.number, ()):
                kept.pop(old, None)
            place += 1
        contents = {upload.content: upload.size for upload in kept.values()}
        yield {
            "at": moment,
            "versions": len(kept),
            "size": sum(upload.size for upload in kept.values()),
            "stored": sum(contents.values()),
            "blobs": len(contents),
            "uploads": place - before,
        }
