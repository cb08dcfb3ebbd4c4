"""Connects the facades of all plug-ins with the services, which are built later."""

from typing import TYPE_CHECKING

from frepo_core.db.models import Token
from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import allows
from frepo_core.errors import AccessDeniedError, FieldsError, NotFoundError, ReadOnlyError

from ...base.records import CollectionRecord

if TYPE_CHECKING:
    from ..core_services import CoreServices


class Connection:
    """The services, once they are built. Contexts of plug-ins are made before, and the services use them."""

    services: "CoreServices | None" = None


class ConnectedFacade:
    """The facade of one plug-in, whose entry point has the name `plugin`."""

    def __init__(self, connection: Connection | None = None, plugin: str = "") -> None:
        self._connection = connection or Connection()
        self._plugin = plugin

    @property
    def _services(self) -> "CoreServices":
        if self._connection.services is None:
            raise RuntimeError("Hooks must not use the service. Use it in the functions that they return.")
        return self._connection.services

    def _writable(self) -> "CoreServices":
        """Return the services for a change. Raises `ReadOnlyError`."""
        if self._services.settings.read_only:
            raise ReadOnlyError("The service is in read-only mode, so a plug-in cannot change anything now")
        return self._services

    def _services_for(self, by: Identity) -> "CoreServices":
        """Return the services. Raises `AccessDeniedError` for a token that does not exist any more, `ReadOnlyError`.

        A view has authenticated it a moment ago, a job perhaps days ago.
        """
        from ...access.tokens import NO_ACCESS

        services = self._writable()
        with services.database.reading() as session:
            if session.get(Token, by.token) is None:
                raise AccessDeniedError(NO_ACCESS)
        return services

    def _collection_for(self, collection_id: str, action: str, by: Identity) -> CollectionRecord:
        """Return a collection in which a token may do this. Raises `NotFoundError` or `AccessDeniedError`."""
        try:
            collection, listed = self._services.collections.get_for_token(collection_id, by)
        except FieldsError as error:
            raise NotFoundError(f"There is no collection {collection_id[:64]!r}") from error
        if not allows(action, by, listed=listed):
            raise AccessDeniedError(f"The token may not do this in the collection: {action} is needed")
        return collection
