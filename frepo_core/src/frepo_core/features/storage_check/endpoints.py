"""The endpoint of what each storage is worth."""

from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import V1, FrepoRequest
from frepo_core.web.conventions.types import Duration, Whole
from frepo_core.web.schemas.models import Query, Reply

from .storage_check import READ_WITHIN, check_storages

if TYPE_CHECKING:
    from .storage_check import Loss, StorageWorth


class CheckQuery(Query):
    """When contents count as read: within this time."""

    read_within: Duration = Field(
        READ_WITHIN, ge=timedelta(), description="When contents count as read, such as P7D or 7d."
    )


class LostContents(Reply):
    """Contents, their bytes as they were sent, and what has them: versions, plain files, entries of the trash."""

    contents: Whole
    size: Whole
    versions: Whole
    files: Whole
    trash: Whole

    @classmethod
    def of(cls, found: "Loss") -> "LostContents":
        """Convert the figures."""
        return cls(**vars(found))


class StorageValue(Reply):
    """What a storage is worth.

    `promised` contents are stored there, or want their second copies there, with `size` bytes. It can decode
    `decodable` of them, and of these `read` were read within the time. `only_here` is what a fire of it would cost:
    what no other storage that works can decode.
    """

    storage: str
    state: Literal["ok", "unavailable"]
    promised: Whole
    size: Whole
    decodable: Whole
    lacking: Whole
    read: Whole
    only_here: LostContents

    @classmethod
    def of(cls, found: "StorageWorth") -> "StorageValue":
        """Convert the figures."""
        return cls(
            storage=found.storage,
            state="unavailable" if found.trouble else "ok",
            promised=found.promised.contents,
            size=found.promised.size,
            decodable=found.decodable.contents,
            lacking=found.lacks,
            read=found.read.contents,
            only_here=LostContents.of(found.only_here),
        )


class StorageCheckReply(Reply):
    """The storages by name. `lost` is what none of them can decode any more."""

    storages: list[StorageValue]
    lost: LostContents


def check(request: FrepoRequest) -> Answer:
    """Compare the records of all contents, as `frepo storage:check` does: some seconds for each 100,000 of them."""
    found = check_storages(request.services, read_within=request.query_as(CheckQuery).read_within)
    storages = [StorageValue.of(one) for one in found.storages]
    return Answer(body=StorageCheckReply(storages=storages, lost=LostContents.of(found.lost)))


ENDPOINTS = [
    Endpoint(
        name="check_storages",
        method="GET",
        path=f"{V1}/storages/check",
        view=check,
        summary="What each storage can decode, and what its fire would cost",
        permission="jobs.view",
        query=CheckQuery,
        answers={200: StorageCheckReply},
    ),
]
