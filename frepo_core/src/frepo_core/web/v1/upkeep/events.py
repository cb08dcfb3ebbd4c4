"""The endpoints of events: who did what, and what it was before."""

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any

from pydantic import Field
from pyramid.response import Response

from frepo_core.services.events.search import EventRecord, EventSearch
from frepo_core.services.reports.audit import export_csv, export_json_lines

from ...base.endpoint import Answer, Endpoint
from ...base.request import V1, FrepoRequest
from ...content.content_response import send_export
from ...conventions.paging import PageQuery, PageReply, next_cursor, page_request
from ...conventions.types import LARGEST_NUMBER, Moment, Time
from ...schemas.models import Query, Reply

EVENTS = f"{V1}/events"


class EventFilter(Query):
    """Which events: since a time, of kinds, about a collection or one of its versions, by an actor."""

    since: Moment | None = Field(None, description="Only events since this time.")
    kind: list[Annotated[str, Field(min_length=1, max_length=64)]] = Field(
        default_factory=list,
        max_length=50,
        description="A kind such as `version.deleted`, or a pattern such as `version.*`; may be repeated.",
    )
    collection: str = Field("", max_length=36, description="Only events about the collection with this id.")
    version: int | None = Field(
        None, ge=1, le=LARGEST_NUMBER, description="Only events about the version with this number."
    )
    q: str = Field(
        "",
        max_length=255,
        description="Part of the name of a collection or of who did it, in any case, or an actor as it is.",
    )
    actor: str = Field(
        "", max_length=128, description="A fingerprint of a token, `console:<user>`, `system:<job>` or `anonymous`."
    )

    def search(self, request: FrepoRequest) -> EventSearch:
        """Return the search."""
        return EventSearch(
            kinds=self.kind,
            of_plugins=tuple(request.services.plugins.event_kinds),
            collection_id=self.collection.lower() or None,
            version_number=self.version,
            text=self.q.strip() or None,
            actor=self.actor or None,
            since=self.since,
        )


class EventQuery(EventFilter, PageQuery):
    """Which events, and which page of them."""


class Event(Reply):
    """Something that happened. `actor` is a fingerprint, `console:<user>`, `system:<job>` or `anonymous`.

    `actor_name` is the name that the token had. An event of a plug-in has a `sentence` in `data` that says what has
    happened. The objects that an event names may have been deleted since. `data` has
    the values before and after an edit, and more, depending on the kind.
    """

    position: int
    at: Time
    kind: str = Field(examples=["version.deleted"])
    actor: str
    actor_name: str | None
    address: str | None
    collection_id: str | None
    version_number: int | None
    file_id: int | None
    token: str | None
    data: dict[str, Any]


class EventPage(PageReply[Event]):
    """A page of events, newest first."""


def list_events(request: FrepoRequest) -> Answer:
    """List the events, newest first, except those about collections that the token may not see."""
    query = request.query_as(EventQuery)
    page = request.services.audit.page(query.search(request), page_request(query), by=request.sender)
    items = [Event.model_validate(one, from_attributes=True) for one in page.items]
    return Answer(body=EventPage(items=items, next=next_cursor(query, page)))


def export_as_csv(request: FrepoRequest) -> Response:
    """Return all events of the filters as CSV, newest first."""
    return _export(request, export_csv, "text/csv", "events.csv")


def export_as_json_lines(request: FrepoRequest) -> Response:
    """Return all events of the filters, newest first, one JSON object in each line."""
    return _export(request, export_json_lines, "application/jsonl", "events.jsonl")


def _export(
    request: FrepoRequest,
    format_events: Callable[[Iterable[EventRecord]], Iterator[bytes]],
    media: str,
    name: str,
) -> Response:
    events = request.services.audit.export(request.query_as(EventFilter).search(request), by=request.sender)
    return send_export(request, format_events(events), media, name)


ENDPOINTS = [
    Endpoint(
        name="export_events_csv",
        method="GET",
        path=f"{EVENTS}.csv",
        view=export_as_csv,
        summary="Export events as CSV",
        permission="events.view",
        query=EventFilter,
        answers={200: None},
        media="text/csv",
    ),
    Endpoint(
        name="export_events_json_lines",
        method="GET",
        path=f"{EVENTS}.jsonl",
        view=export_as_json_lines,
        summary="Export events as JSON lines",
        permission="events.view",
        query=EventFilter,
        answers={200: None},
        media="application/jsonl",
    ),
    Endpoint(
        name="list_events",
        method="GET",
        path=EVENTS,
        view=list_events,
        summary="List events",
        permission="events.view",
        query=EventQuery,
        answers={200: EventPage},
    ),
]
