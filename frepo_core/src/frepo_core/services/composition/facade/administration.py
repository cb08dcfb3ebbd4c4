"""The part of the facade that sets up collections and tokens: it implements `AdministeringService`."""

from frepo_core.domain.backups.guards import SAFE_GUARDS
from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import allows
from frepo_core.errors import AccessDeniedError
from frepo_core.plugins import CollectionInfo, CollectionValues, IssuedToken, TokenValues

from ...base.records import collection_info
from .connection import ConnectedFacade


class AdministeringFacade(ConnectedFacade):
    """Calls the services that the endpoints call, with the checks of the endpoints' permissions and values."""

    def create_collection(self, values: CollectionValues, *, by: Identity) -> CollectionInfo:
        from .requested_values import collection_change  # a plug-in that sets up nothing need not import it

        services = self._services_for(by)
        _require("collection.create", by)
        change = collection_change(values, is_new=True)
        return collection_info(services.collections.create(change, by=by, default_guards=SAFE_GUARDS))

    def edit_collection(self, collection_id: str, values: CollectionValues, *, by: Identity) -> CollectionInfo:
        from .requested_values import collection_change

        services = self._services_for(by)
        collection = self._collection_for(collection_id, "collection.edit", by)
        change = collection_change(values, is_new=False)
        return collection_info(services.collections.edit(collection.id, change, by=by).collection)

    def create_token(self, values: TokenValues, *, by: Identity) -> IssuedToken:
        from .requested_values import new_token

        services = self._services_for(by)
        _require("token.generate", by)
        issued = services.tokens.generate(new_token(values), by=by)
        return IssuedToken(secret=issued.id, fingerprint=issued.fingerprint, expires_at=issued.expires_at)

    def allow_token(self, collection_id: str, fingerprint: str, *, by: Identity) -> bool:
        services = self._services_for(by)
        collection = self._collection_for(collection_id, "collection.tokens", by)
        return services.token_lists.grant(collection.id, fingerprint, by=by)[1]


def _require(action: str, by: Identity) -> None:
    if not allows(action, by):
        raise AccessDeniedError(f"The token may not do this: {action} is needed")
