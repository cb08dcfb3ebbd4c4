"""Who sends a request about an upload: its token, or one that replaced it."""

from frepo_core.plugins import Identity, NotFoundError, PluginContext
from frepo_core.web import FrepoRequest

from ..session import Upload

# Only an administrator may do this.
EVERYTHING = "token.revoke_administrator"
NO_UPLOAD = "There is no such upload: it never was, or it ended more than a day ago"


def identify(request: FrepoRequest, context: PluginContext, upload: Upload | None) -> Identity:
    """Return who sends the request. The token's expiry counts when the upload is made: it may take longer.

    Raises `AccessDeniedError` for a token that is not valid, such as a revoked one.
    """
    identity: Identity = context.service.identify(
        request.token_id,
        address=request.client_address,
        user_agent=request.user_agent or "",
        began_at=upload.created_at if upload else None,
        earlier=upload.creator if upload else None,
    )
    request.is_authenticated = True
    return identity


def is_administrator(identity: Identity, context: PluginContext) -> bool:
    """Return whether the token may see and end the uploads of all."""
    return context.service.permits(EVERYTHING, identity)


def require_owner(upload: Upload | None, identity: Identity, *, or_else: bool = False) -> Upload:
    """Return the upload if it belongs to the token, or another may have it, too. Others do not learn that it exists.

    Raises `NotFoundError`.
    """
    if upload is not None and (or_else or upload.owner == identity.client):
        return upload
    raise NotFoundError(NO_UPLOAD)
