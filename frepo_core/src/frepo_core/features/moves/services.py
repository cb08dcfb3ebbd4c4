"""The services of moves."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .collection_move import CollectionMoves


class MoveServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @cached_property
    def collections(self) -> "CollectionMoves":
        """Move collections into other storages, on request."""
        from .collection_move import CollectionMoves

        return CollectionMoves(self._core.database, self._core.blobs)
