"""Follows the chain over the events of a report, and compares it with what the storages have kept of it."""

import gzip
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Event
from frepo_core.errors import BlobNotFound, FieldsError, FrepoError
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.events.chain import COLUMNS, canonical_form, digest_of, next_link
from frepo_core.services.upkeep.journal.cursors import read_cursors, read_restores
from frepo_core.services.upkeep.journal.keys import JournalKey

from .arrivals import KINDS
from .facts import ACTS

MOST = 100_000
# The report rests on these: they are in it as a whole, of others only the digest.
SHOWN = {*KINDS, *ACTS, "version.checked"}
_LONGEST_HEAD = 1 << 16
# How far back the journal is read: the last part, the one before, the second before that, and so on.
_BACK = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def read_segments(session: Session, since: datetime, until: datetime) -> tuple[list[dict[str, Any]], int]:
    """Return the segments of the chain over the events between two times, and how many events have no link.

    Three statements. Raises `FieldsError` for more than `MOST` events.
    """
    ends = select(func.min(Event.position), func.max(Event.position)).where(Event.at >= since, Event.at < until)
    first, last = session.execute(ends).one()
    if first is None or last is None:
        return [], 0
    if last - first >= MOST:
        raise FieldsError({"since": [f"is followed by more than {MOST} events: choose a later time, or less of it"]})
    older = select(Event.position).where(Event.position < first, Event.link.is_not(None)).limit(1)
    is_oldest = session.scalar(older) is None
    query = select(*COLUMNS, Event.position, Event.link).where(Event.position.between(first - 1, last))
    rows = session.execute(query.order_by(Event.position).execution_options(yield_per=1000))
    return _follow(rows, first, is_oldest=is_oldest)


def _follow(rows: Any, first: int, *, is_oldest: bool) -> tuple[list[dict[str, Any]], int]:
    segments: list[dict[str, Any]] = []
    unlinked, before, position = 0, None, None
    for row in rows:
        if row.link is None:
            unlinked += row.position >= first
            before, position = None, row.position
            continue
        if row.position < first:
            before, position = row.link, row.position
            continue
        form = canonical_form(row, row.position)
        digest = digest_of(form)
        follows = position == row.position - 1
        if not segments or segments[-1]["head"] != before or not follows or next_link(before or "", digest) != row.link:
            is_pruned = is_oldest and not segments
            segments.append(_begin(row, digest, before if follows else None, follows=follows, is_pruned=is_pruned))
        if segments[-1]["after"] < row.position:
            segments[-1]["entries"].append(form if row.kind in SHOWN else digest)
        segments[-1]["head"] = before = row.link
        position = row.position
    return segments, unlinked


def _begin(row: Any, digest: str, before: str | None, *, follows: bool, is_pruned: bool) -> dict[str, Any]:
    """Return a new segment that begins before an event, or with it if its link follows from nothing that is known.

    `follows`: the event before is there. `is_pruned`: no event before has a link, so that old ones may be gone.
    """
    if before is not None and next_link(before, digest) == row.link:
        return {"begins": "since", "after": row.position - 1, "link": before, "entries": [], "head": ""}
    if before is None and next_link("", digest) == row.link:
        return {"begins": "start", "after": row.position - 1, "link": "", "entries": [], "head": ""}
    begins = "pruned" if is_pruned and before is None else "changed" if follows else "missing"
    return {"begins": begins, "after": row.position, "link": row.link, "entries": [], "head": ""}


def read_anchors(database: Database, backends: Backends) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return what the journals of the storages have kept of the chain, and whether it fits to the database.

    Also where the database was restored from a backup, as its journals have seen: the last event that was in a journal
    then, and when the journal went on; what others have kept of later events until then is lost, and not changed.
    The last parts and the newest catalogue of each storage are read, as far as their first line. Two statements.
    """
    with database.reading() as session:
        cursors, restores = read_cursors(session), read_restores(session)
    found: list[dict[str, Any]] = []
    for storage, cursor in sorted(cursors.items()):
        numbers = (cursor.number - back for back in _BACK if back < cursor.number)
        keys = [JournalKey(epoch=cursor.epoch, number=number).text for number in numbers]
        for key in filter(None, [*keys, cursor.catalogue]):
            found += _read_anchor(backends, storage, key)
    restored: list[dict[str, Any]] = [
        {"begins": "restored", "storage": storage, "at": at, "after": after} for storage, after, at in restores
    ]
    positions = {one["position"] for one in found if "position" in one} | {one["after"] for one in restored}
    with database.reading() as session:
        links, last = _links_of(session, positions)
    for one in found:
        if "position" in one and (one["position"] in links or one["position"] > last):
            one["fits"] = links.get(one["position"]) == one["link"]
    return found, [one | {"link": links.get(one["after"])} for one in restored]


def _links_of(session: Session, positions: set[int]) -> tuple[Mapping[int, str | None], int]:
    last = select(func.max(Event.position)).scalar_subquery()
    is_asked = (Event.position == last) | Event.position.in_(positions)
    rows = session.execute(select(Event.position, Event.link).where(is_asked))
    links = {position: link for position, link in rows if position is not None}
    return links, max(links, default=0)


def _read_anchor(backends: Backends, storage: str, key: str) -> Iterator[dict[str, Any]]:
    """Yield the anchor in a file of the journal; nothing if the file was deleted, or is from before there was one."""
    about = {"storage": storage, "key": key}
    try:
        with backends.get(storage).open(key) as stored, gzip.GzipFile(fileobj=stored) as file:
            head = json.loads(file.readline(_LONGEST_HEAD))
        if "link" in head:
            yield about | {"position": int(head["linked"]), "link": str(head["link"])}
    except BlobNotFound:
        return
    except FrepoError as error:
        yield about | {"problem": error.message}
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        yield about | {"problem": f"it cannot be read: {type(error).__name__}"}
