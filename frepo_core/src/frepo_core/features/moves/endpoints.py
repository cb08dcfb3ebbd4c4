"""The endpoints that move the versions of a collection into another storage."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import V1, FrepoRequest
from frepo_core.web.conventions.merge_patch import Patch, unset
from frepo_core.web.conventions.types import Time, Whole
from frepo_core.web.schemas.models import Reply

from .feature import MoveServices

if TYPE_CHECKING:
    from .collection_move import MoveState

MOVE = f"{V1}/collections/{{collection}}/move"


class MoveRequest(Patch):
    """Where the versions of the collection shall be; null: in the first storage. Without it: in its own `storage`."""

    storage: Annotated[str, Field(max_length=64, examples=["local"])] | None = unset()


class Move(Reply):
    """How much of a collection is not in the storage of its new versions: `left` contents with `left_size` bytes.

    `requested_at` is when a move was requested that has not ended, null if there is none. What is left without one
    arrived before the storage was changed, or is damaged.
    """

    storage: str
    requested_at: Time | None
    left: Whole
    left_size: Whole

    @classmethod
    def of(cls, state: "MoveState") -> "Move":
        """Convert the state."""
        return cls(**vars(state))


def start(request: FrepoRequest) -> Answer:
    """Move all versions of a collection, and what it has in the trash, into a storage. A job does it."""
    services, sent = request.services, request.body_as(MoveRequest).changes()
    if "storage" in sent:
        change = CollectionChange(limits={}, storage=sent["storage"] or "")
        services.collections.edit(request.collection.id, change, by=request.sender)
    state = services.feature(MoveServices).collections.request(request.collection.id)
    services.jobs.request("migrate", by=request.sender)
    return Answer(status=202, body=Move.of(state))


def show(request: FrepoRequest) -> Answer:
    """Show how much of a collection is still to be moved."""
    return Answer(body=Move.of(request.services.feature(MoveServices).collections.state(request.collection.id)))


ENDPOINTS = [
    Endpoint(
        name="show_move",
        method="GET",
        path=MOVE,
        view=show,
        summary="Show how far the move of a collection is",
        permission="collection.fetch",
        answers={200: Move},
    ),
    Endpoint(
        name="move_collection",
        method="POST",
        path=MOVE,
        view=start,
        summary="Move a collection into another storage",
        permission="collection.edit",
        body=MoveRequest,
        writes=True,
        answers={202: Move},
    ),
]
