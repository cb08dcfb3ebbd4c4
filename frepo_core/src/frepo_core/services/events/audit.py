"""What readers may see of the events: pages, and exports as CSV and as JSON lines."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace

from sqlalchemy import select

from frepo_core.db import Database
from frepo_core.db.models import CollectionToken
from frepo_core.domain.access import allows
from frepo_core.domain.identity import Identity
from frepo_core.errors import FieldsError

from ..keyset import Page, PageRequest
from .queries import matching_kinds
from .search import EventRecord, EventSearch, newest_records

EXPORT_PAGE = 500
# A spreadsheet takes a text that begins with one of these for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Audit:
    """The events for readers. A reader sees only events about collections that it may see."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, search: EventSearch, page: PageRequest, *, by: Identity) -> Page[EventRecord]:
        """Return a page of the events that the token may see, newest first. Raises `FieldsError`."""
        search = self._visible(_checked(search), by)
        found = newest_records(self._database, search, limit=page.limit + 1, before=_position(page))
        items = found[: page.limit]
        return Page(items=items, next=[items[-1].position] if len(found) > len(items) else None)

    def export(self, search: EventSearch, *, by: Identity | None) -> Iterator[EventRecord]:
        """Return all events of a search, newest first, read in pages. `by` is None for the console, which sees all.

        Raises `FieldsError` before the first event.
        """
        return self._pages(self._visible(_checked(search), by))

    def _pages(self, search: EventSearch) -> Iterator[EventRecord]:
        before = None
        while found := newest_records(self._database, search, limit=EXPORT_PAGE, before=before):
            yield from found
            before = found[-1].position

    def _visible(self, search: EventSearch, by: Identity | None) -> EventSearch:
        """Return the search, restricted to the collections that the token may see."""
        if by is None or allows("collection.fetch", by):
            return search
        query = select(CollectionToken.collection_id).where(CollectionToken.token_key == by.token)
        with self._database.reading() as session:
            return replace(search, visible=session.scalars(query.order_by(CollectionToken.collection_id)).all())


def export_csv(events: Iterable[EventRecord]) -> Iterator[bytes]:
    """Yield the lines of a CSV file (RFC 4180, UTF-8) with a head. The data is JSON in one cell."""
    yield _csv_line(EventRecord.__dataclass_fields__)
    for event in events:
        values = _values(event) | {"data": _json(event.data)}
        yield _csv_line(_cell(value) for value in values.values())


def export_json_lines(events: Iterable[EventRecord]) -> Iterator[bytes]:
    """Yield one JSON object in each line, in UTF-8."""
    for event in events:
        yield f"{_json(_values(event))}\n".encode()


# The formats by the ending of the file's name.
FORMATS: Mapping[str, Callable[[Iterable[EventRecord]], Iterator[bytes]]] = {
    "csv": export_csv,
    "jsonl": export_json_lines,
}


def _values(event: EventRecord) -> dict[str, object]:
    return asdict(event) | {"at": event.at.isoformat(timespec="microseconds").replace("+00:00", "Z")}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _csv_line(values: Iterable[object]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(values)
    return line.getvalue().encode()


def _checked(search: EventSearch) -> EventSearch:
    if unknown := [pattern for pattern in search.kinds if not matching_kinds([pattern])]:
        raise FieldsError({"kind": [f"{unknown[0]!r} matches no kind of event; the page about events lists them"]})
    return search


def _position(page: PageRequest) -> int | None:
    if page.after is None:
        return None
    match page.after:
        case [int(position)] if not isinstance(position, bool) and 0 <= position < 2**63:
            return position
    raise FieldsError({"cursor": ["This is not the cursor of a page of events: leave it out to begin"]})
