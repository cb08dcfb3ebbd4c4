"""What a merge reads back of each kind of object, and how holds and choices of restore tests come back."""

from collections.abc import Collection as Group
from collections.abc import Iterable, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, Event
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By
from frepo_core.services.base.batches import batches
from frepo_core.services.events.facts import collection_event
from frepo_core.services.events.recording import record

from .journal.json_rows import Values, to_row
from .journal.objects import ObjectKind, table_of
from .row_loading import RowLoader
from .staging import Key

BATCH = 500
_Lost = tuple[Key, Values]
# What becomes of each kind of object. A test compares this with the kinds that there are.
READ_BACK = {
    "collection": "those that are missing, as they were; of others, a hold",
    "version": "those that are missing, with their file, content, checks, labels and pins",
    "trash": "those that are missing",
    "restore_choice": "those of collections that have made no choice",
}
LEFT_OUT = {
    "token": "one that was revoked since must not come back",
    "enrolment_code": "as tokens",
    "deleted_collection": "its versions were deleted on purpose",
    "file": "plain files; those of versions come with them",
    "alias": "it may name another file now",
    "event": "the chain of events goes on in the restored database",
    "run": "only catalogues have them",
    "sample": "only catalogues have them",
    "installation": "values of the database itself",
    "plugin_value": "the package has its own state, which may not fit",
    "plugin_row": "the package has its own state, which may not fit",
}


def hold_again(database: Database, found: Sequence[_Lost], by: By) -> int:
    """Put collections on hold again whose hold the database does not know, and has not ended itself."""
    held = {key[0]: to_row(table_of(Collection), values) for key, values in found if values.get("held_since")}
    if not held:
        return 0

    def work(session: Session) -> int:
        query = select(Collection).where(Collection.id.in_(held), Collection.held_since.is_(None))
        ended = find_recorded(session, EventKind.COLLECTION_HOLD_ENDED, held.keys())
        rows = [row for row in session.scalars(query.with_for_update()) if row.id not in ended]
        for row in rows:
            was = held[row.id]
            row.held_since, row.held_by, row.hold_reason = was["held_since"], was["held_by"], was["hold_reason"]
            record(session, collection_event(EventKind.COLLECTION_HELD, row.id, by=by, reason=row.hold_reason))
        return len(rows)

    return database.write(work)


def add_missing(database: Database, loader: RowLoader, kind: ObjectKind, found: Iterable[_Lost]) -> int:
    """Add the objects of a kind that the database lacks; return their number. The loader names those it cannot add."""
    for batch in batches(found, BATCH):
        with database.reading() as session:
            known = {key for key, _ in kind.find(session, [key for key, _ in batch])}
        loader.load(kind, [one for one in batch if one[0] not in known])
    return loader.counts[kind.name]


def find_recorded(session: Session, kind: EventKind, ids: Group[str]) -> set[str]:
    """Return those of the collections about which the database has an event of this kind."""
    query = select(Event.collection_id).where(Event.kind == kind.value, Event.collection_id.in_(list(ids)))
    return {str(one) for one in session.scalars(query)}
