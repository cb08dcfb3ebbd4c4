"""The endpoint of the storages."""

from typing import TYPE_CHECKING, Literal

from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import V1, FrepoRequest
from frepo_core.web.conventions.paging import PageReply
from frepo_core.web.conventions.types import Time, Whole
from frepo_core.web.schemas.models import Reply

from ..feature import InventoryServices

if TYPE_CHECKING:
    from ..storages import StorageRecord


class Storage(Reply):
    """A storage. `current`: it is the first one, for plain files and for collections that name no other.

    `configured`: a collection can name it. `adapter` is what `storage.NAME.adapter` says, or the name itself.

    `state` is what uploads and health checks found last: `full` or `unavailable` since `since`, else `ok`. `free_space`
    (bytes) is null if the storage cannot tell, does not answer or is not used by the process. `damaged` is the number
    of its damaged contents, which `/damage` lists. `package` is null if the package of the storage is not installed any
    more.
    """

    name: str
    adapter: str
    package: str | None
    summary: str
    current: bool
    configured: bool
    state: Literal["ok", "full", "unavailable"]
    since: Time | None
    free_space: int | None
    damaged: Whole

    @classmethod
    def of(cls, found: "StorageRecord") -> "Storage":
        """Convert a storage."""
        return cls.model_validate(
            {
                "name": found.name,
                "adapter": found.adapter,
                "package": found.package,
                "summary": found.summary,
                "current": found.is_current,
                "configured": found.is_configured,
                "state": found.trouble.state if found.trouble else "ok",
                "since": found.trouble.since if found.trouble else None,
                "free_space": found.free_space,
                "damaged": found.damaged,
            }
        )


class StoragePage(PageReply[Storage]):
    """All storages, by name. They are always one page."""


def list_storages(request: FrepoRequest) -> Answer:
    """List the installed storages, and whether they work."""
    items = [Storage.of(one) for one in request.services.feature(InventoryServices).inventory.storages()]
    return Answer(body=StoragePage(items=items, next=None))


ENDPOINTS = [
    Endpoint(
        name="list_storages",
        method="GET",
        path=f"{V1}/storages",
        view=list_storages,
        summary="List the storages",
        permission="settings.view",
        answers={200: StoragePage},
    ),
]
