"""The endpoint of damaged contents."""

from typing import TYPE_CHECKING

from pydantic import Field

from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import V1, FrepoRequest
from frepo_core.web.conventions.paging import PageQuery, PageReply, next_cursor, page_request
from frepo_core.web.conventions.types import Time, Whole
from frepo_core.web.schemas import json_schemas
from frepo_core.web.schemas.models import Reply

from ..feature import InventoryServices

if TYPE_CHECKING:
    from ..damage import DamageRecord


class DamagedVersion(Reply):
    """A version whose content is damaged. `collection_name` is the file name of its collection."""

    collection_id: str
    collection_name: str
    number: int


class Damage(Reply):
    """A content whose bytes are wrong or missing in a storage. `found_at` is when it was read last.

    `versions` and `files` are the first 20 of the `used_by` that have this content. `advice` says what to do.
    """

    sha256: str = Field(pattern=json_schemas.SHA256)
    size: Whole
    storage: str
    key: str
    found_at: Time
    versions: list[DamagedVersion]
    files: list[str]
    used_by: Whole
    advice: str

    @classmethod
    def of(cls, record: "DamageRecord") -> "Damage":
        """Convert a damaged content."""
        return cls.model_validate({**vars(record), "versions": [vars(one) for one in record.versions]})


class DamagePage(PageReply[Damage]):
    """A page of damaged contents. `next` is the `cursor` of the next page, null on the last one."""


def list_damage(request: FrepoRequest) -> Answer:
    """List the damaged contents, the latest finding first, with the versions and files that the token may see."""
    query = request.query_as(PageQuery)
    page = request.services.feature(InventoryServices).inventory.damage(page_request(query), by=request.sender)
    return Answer(body=DamagePage(items=[Damage.of(one) for one in page.items], next=next_cursor(query, page)))


ENDPOINTS = [
    Endpoint(
        name="list_damage",
        method="GET",
        path=f"{V1}/damage",
        view=list_damage,
        summary="List damaged contents",
        permission="jobs.view",
        query=PageQuery,
        answers={200: DamagePage},
    ),
]
