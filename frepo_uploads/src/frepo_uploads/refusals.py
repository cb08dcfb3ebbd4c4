"""Records that there was no room for an upload in parts, as for an upload in one request."""

import contextlib
from collections.abc import Iterator

from frepo_core.plugins import EndpointError, FrepoError, Identity, PluginContext, StorageFull

NO_ROOM = 507


class Refusals:
    """Records refusals with the collection. That never changes the answer to the client."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context

    @contextlib.contextmanager
    def recorded(self, collection_id: str | None, *, by: Identity, size: int | None) -> Iterator[None]:
        """Record a lack of room that the body of the `with` statement raises. A plain file has no collection."""
        try:
            yield
        except (StorageFull, EndpointError) as error:
            is_full = isinstance(error, StorageFull) or error.status == NO_ROOM
            if is_full and collection_id is not None:
                self._record(collection_id, error.message, by, size)
            raise

    def _record(self, collection_id: str, message: str, by: Identity, size: int | None) -> None:
        try:
            self._context.service.record_lack_of_room(collection_id, message, by=by, size=size)
        except FrepoError as error:  # such as a collection that was deleted
            self._context.log.warning("a lack of room in collection %s is not recorded: %s", collection_id, error)
