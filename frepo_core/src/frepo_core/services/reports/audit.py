"""What readers may see of the events: pages, and exports as CSV and as JSON lines."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict

from frepo_core.db import Database
from frepo_core.domain.identity import Identity
from frepo_core.domain.texts.foreign_text import escape_controls, spreadsheet_cell
from frepo_core.errors import FieldsError

from ..access.visibility.event_visibility import Visibility
from ..base.keyset import Page, PageRequest
from ..events.queries import matching_kinds
from ..events.search import EventRecord, EventSearch, newest_records

EXPORT_PAGE = 500
# How many times the rows of a page may be read to fill it.
MAX_ROUNDS = 5


class Audit:
    """The events for readers. A reader sees only what `Visibility` shows."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._visibility = Visibility(database)

    def page(self, search: EventSearch, page: PageRequest, *, by: Identity) -> Page[EventRecord]:
        """Return a page of the events that the token may see, newest first. Raises `FieldsError`.

        The page may be shorter, even empty, and still have a next one, if many events in a row are hidden.
        """
        search = self._visibility.restrict(_checked(search), by)
        before, items = _position(page), []
        for _ in range(MAX_ROUNDS):
            found = newest_records(self._database, search, limit=page.limit + 1, before=before)
            items += self._visibility.show(found[: page.limit], by)
            if len(items) > page.limit:
                items = items[: page.limit]
                return Page(items=items, next=[items[-1].position])
            if len(found) <= page.limit:
                return Page(items=items)
            before = found[page.limit - 1].position
            if len(items) == page.limit:
                break
        return Page(items=items, next=[before])

    def export(self, search: EventSearch, *, by: Identity | None) -> Iterator[EventRecord]:
        """Return all events of a search, newest first, read in pages. `by` is None for `frepo`, which sees all.

        Raises `FieldsError` before the first event.
        """
        return self._pages(self._visibility.restrict(_checked(search), by), by)

    def _pages(self, search: EventSearch, by: Identity | None) -> Iterator[EventRecord]:
        before = None
        while found := newest_records(self._database, search, limit=EXPORT_PAGE, before=before):
            yield from self._visibility.show(found, by)
            before = found[-1].position


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
    # JSON escapes what is below a space; terminals obey others, too.
    return escape_controls(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _cell(value: object) -> object:
    return spreadsheet_cell(escape_controls(value) if isinstance(value, str) else value)


def _csv_line(values: Iterable[object]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(values)
    return line.getvalue().encode()


def _checked(search: EventSearch) -> EventSearch:
    if unknown := [pattern for pattern in search.kinds if not matching_kinds([pattern], search.of_plugins)]:
        raise FieldsError({"kind": [f"{unknown[0]!r} matches no kind of event; the page about events lists them"]})
    return search


def _position(page: PageRequest) -> int | None:
    if page.after is None:
        return None
    match page.after:
        case [int(position)] if not isinstance(position, bool) and 0 <= position < 2**63:
            return position
    raise FieldsError({"cursor": ["This is not the cursor of a page of events: leave it out to begin"]})
