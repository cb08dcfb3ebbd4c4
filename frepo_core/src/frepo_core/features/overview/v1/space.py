"""The endpoint of the space that a collection takes, and what compact storage saves."""

from typing import TYPE_CHECKING

from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import V1, FrepoRequest
from frepo_core.web.conventions.types import Whole
from frepo_core.web.schemas.models import Reply

from ...compact.feature import CompactServices

if TYPE_CHECKING:
    from ...compact.compact_space import CompactSpace


class CompactReply(Reply):
    """What compact storage saves, as the last run of the job `compact` has counted it. Sizes are in bytes.

    `encoded` contents are compressed, or stored as the difference to others; `saved` is by how much they are smaller.
    `depth` is how many differences are read at most. `waiting` contents will be encoded by a later run. `debt` is the
    size of what is only kept as the base of others.
    """

    encoded: Whole
    saved: Whole
    depth: Whole
    waiting: Whole
    debt: Whole

    @classmethod
    def of(cls, found: "CompactSpace") -> "CompactReply":
        """Convert the figures."""
        return cls(**vars(found.figures), debt=found.debt)


class Space(Reply):
    """The `size` of a collection's versions, and what is `stored` for them, both in bytes: equal contents once.

    Of its contents, `encoded` are compressed, or stored as the difference to others. `depth` is how many differences
    are read for the version that needs most.
    """

    size: Whole
    stored: Whole
    contents: Whole
    encoded: Whole
    depth: Whole


def show_space(request: FrepoRequest) -> Answer:
    """Show how much space the versions of a collection take."""
    found = request.services.feature(CompactServices).spaces.read_collection(request.collection.id)
    return Answer(body=Space(**vars(found)))


ENDPOINTS = [
    Endpoint(
        name="show_collection_space",
        method="GET",
        path=f"{V1}/collections/{{collection}}/space",
        view=show_space,
        summary="How much space a collection takes",
        permission="collection.fetch",
        answers={200: Space},
    ),
]
