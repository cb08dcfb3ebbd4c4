"""The endpoint that lists the pinned versions of all collections."""

from typing import Literal

from frepo_core.services.backups.holds.pins import PinnedVersion

from ...base.endpoint import Answer, Endpoint
from ...base.request import V1, FrepoRequest
from ...conventions.paging import PageQuery, PageReply, next_cursor, page_request
from ...conventions.types import Time, Whole
from ...schemas.models import Reply


class Pin(Reply):
    """A pinned version and its collection. The size is in bytes. The pin ends at `pinned_until`; null: never."""

    collection: str
    collection_name: str
    number: int
    created_at: Time
    size: Whole
    pinned_until: Time | None
    pin_reason: str
    note: str

    @classmethod
    def of(cls, pinned: PinnedVersion) -> "Pin":
        """Convert a pinned version."""
        version = pinned.version
        return cls(
            collection=pinned.collection.id,
            collection_name=pinned.collection.filename,
            number=version.number,
            created_at=version.created_at,
            size=version.file.blob.size,
            pinned_until=version.pinned_until,
            pin_reason=version.pin_reason,
            note=version.note,
        )


class PinPage(PageReply[Pin]):
    """A page of pinned versions. `next` is the `cursor` of the next page, null on the last one."""


class PinQuery(PageQuery):
    """The order of the pinned versions: by the id of their collection, then by number."""

    sort: Literal["collection", "-collection"] = "collection"


def list_pins(request: FrepoRequest) -> Answer:
    """List the pinned versions of all collections whose versions the token may list."""
    query = request.query_as(PinQuery)
    page = request.services.pins.page(page_request(query), by=request.sender)
    return Answer(body=PinPage(items=[Pin.of(one) for one in page.items], next=next_cursor(query, page)))


ENDPOINTS = [
    Endpoint(
        name="list_pins",
        method="GET",
        path=f"{V1}/pins",
        view=list_pins,
        summary="List the pinned versions of all collections",
        permission="pin.list",
        query=PinQuery,
        answers={200: PinPage},
    ),
]
