"""The endpoints of the history: how the service and its collections have grown."""

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from pydantic import Field

from frepo_core.services.base.records import CollectionRecord
from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import V1, FrepoRequest
from frepo_core.web.conventions.paging import PageQuery, next_cursor, page_request
from frepo_core.web.conventions.types import Moment, Time, Whole
from frepo_core.web.schemas.models import PageNumber, Query, Reply

from ..feature import OverviewServices

if TYPE_CHECKING:
    from ..overview import SampleRecord


class Sample(Reply):
    """The size of the service or of a collection on a day. Sizes are in bytes.

    `size` of a collection is that of its versions, of the service that of its blobs. The last three are null for
    collections: what clients have sent for `size`, and the uploads and refusals since the day before.
    """

    at: Time
    versions: Whole
    size: Whole
    blobs: Whole
    sent: int | None
    uploads: int | None
    refusals: int | None

    @classmethod
    def of(cls, found: "SampleRecord") -> "Sample":
        """Convert a sample."""
        return cls(**vars(found))


class History(Reply):
    """A page of daily samples, the oldest first. `next` is the `cursor` of the next page, null on the last one."""

    items: list[Sample]
    next: str | None


class HistoryQuery(PageQuery):
    """Which samples. They are kept for 800 days."""

    since: Moment | None = Field(None, description="Only samples since this time, or since the begin of this day.")


class SizesQuery(Query):
    """Which collections, and how many days."""

    collection: list[str] = Field(
        min_length=1, max_length=100, description="The id of a collection. May be repeated: up to 100."
    )
    days: PageNumber = Field(30, ge=1, le=90, description="The samples of so many days.")


class DailySize(Reply):
    """The size of a collection on a day, in bytes."""

    at: Time
    size: Whole
    versions: Whole


class CollectionSizes(Reply):
    """The daily sizes of a collection, the oldest first. `id` is the collection's."""

    id: str
    sizes: list[DailySize]


class SizesList(Reply):
    """The sizes of the collections that the query names. It is not split into pages, so `next` is always null."""

    items: list[CollectionSizes]
    next: str | None = None


class ArrivalsQuery(Query):
    """How many days."""

    days: PageNumber = Field(14, ge=1, le=90, description="So many days, the current one included.")


class Arrivals(Reply):
    """How many versions of a collection have arrived on each day, the oldest first. `id` is the collection's."""

    id: str
    arrived: list[Whole]


class ArrivalsList(Reply):
    """The arrivals of the last days (UTC). Collections without one are left out, and `next` is always null."""

    days: list[date]
    items: list[Arrivals]
    next: str | None = None


def show_arrivals(request: FrepoRequest) -> Answer:
    """Show on which of the last days versions of each collection have arrived."""
    days = request.query_as(ArrivalsQuery).days
    found = request.services.collection_pages.arrivals(days=days, by=request.sender)
    today = datetime.now(UTC).date()
    return Answer(
        body=ArrivalsList(
            days=[today - timedelta(days=age) for age in reversed(range(days))],
            items=[Arrivals(id=one, arrived=numbers) for one, numbers in found.items()],
        )
    )


def show_history(request: FrepoRequest) -> Answer:
    """Show how the service has grown: one sample a day."""
    return _history(request)


def show_collection_history(request: FrepoRequest) -> Answer:
    """Show how a collection has grown: one sample a day."""
    return _history(request, request.collection)


def show_collection_sizes(request: FrepoRequest) -> Answer:
    """Show how several collections have grown, for small curves in a list. Hidden collections are left out."""
    query = request.query_as(SizesQuery)
    ids = [one.lower() for one in query.collection]
    found = request.services.collection_pages.sizes(ids, days=query.days, by=request.sender)
    items = [
        CollectionSizes(id=collection, sizes=[DailySize(at=at, size=size, versions=count) for at, size, count in rows])
        for collection, rows in found.items()
    ]
    return Answer(body=SizesList(items=items))


def _history(request: FrepoRequest, collection: CollectionRecord | None = None) -> Answer:
    query = request.query_as(HistoryQuery)
    since, collection_id = query.since, None
    if collection:  # another one may have had its id before
        since, collection_id = max(query.since or collection.created_at, collection.created_at), collection.id
    page = request.services.feature(OverviewServices).overviews.history(collection_id, page_request(query), since=since)
    return Answer(body=History(items=[Sample.of(one) for one in page.items], next=next_cursor(query, page)))


ENDPOINTS = [
    Endpoint(
        name="show_history",
        method="GET",
        path=f"{V1}/history",
        view=show_history,
        summary="How the service has grown",
        permission="metrics.view",
        query=HistoryQuery,
        answers={200: History},
    ),
    Endpoint(
        name="show_collection_sizes",
        method="GET",
        path=f"{V1}/history/collections",
        view=show_collection_sizes,
        summary="How several collections have grown",
        permission="collection.list",
        query=SizesQuery,
        answers={200: SizesList},
    ),
    Endpoint(
        name="show_arrivals",
        method="GET",
        path=f"{V1}/history/arrivals",
        view=show_arrivals,
        summary="On which of the last days backups have arrived",
        permission="collection.list",
        query=ArrivalsQuery,
        answers={200: ArrivalsList},
    ),
    Endpoint(
        name="show_collection_history",
        method="GET",
        path=f"{V1}/collections/{{collection}}/history",
        view=show_collection_history,
        summary="How a collection has grown",
        permission="collection.fetch",
        query=HistoryQuery,
        answers={200: History},
    ),
]
