"""The security policy: token → identity, and the one table of rules → allowed or not."""

from typing import Any, cast

from pyramid.request import RequestLocalCache
from pyramid.security import Allowed, Denied

from frepo_core.domain.access import allows
from frepo_core.domain.identity import Identity

from .context import Context
from .request import FrepoRequest


class TokenPolicy:
    """Knows tokens only: no sessions, no accounts."""

    def __init__(self) -> None:
        self._cache = RequestLocalCache(self._load)

    def identity(self, request: FrepoRequest) -> Identity | None:
        """Return the token's identity, None without a token. Raises `AccessDeniedError` for a bad one."""
        return cast("Identity | None", self._cache.get_or_create(request))

    def authenticated_userid(self, request: FrepoRequest) -> str | None:
        """Return the token's fingerprint, which is what logs may say."""
        identity = self.identity(request)
        return identity.fingerprint if identity else None

    def permits(self, request: FrepoRequest, context: Any, permission: str) -> Allowed | Denied:
        """Ask the rule; without a token nothing is allowed."""
        identity = self.identity(request)
        listed = isinstance(context, Context) and context.listed
        if identity and allows(permission, identity, listed=listed):
            return Allowed(permission)
        return Denied(permission)

    def remember(self, request: FrepoRequest, userid: str, **options: Any) -> list[tuple[str, str]]:
        """Set no cookie: the client sends its token each time."""
        return []

    def forget(self, request: FrepoRequest, **options: Any) -> list[tuple[str, str]]:
        """Set no cookie."""
        return []

    def _load(self, request: FrepoRequest) -> Identity | None:
        if not request.token_id:
            return None
        return request.services.tokens.identify(
            request.token_id, address=request.client_address, user_agent=request.user_agent or ""
        )
