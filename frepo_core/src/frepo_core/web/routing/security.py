"""The security policy: finds the identity of the token, and checks permissions by the rules of `domain.permissions`."""

from typing import Any

from pyramid.security import Allowed, Denied

from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import allows

from ..base.context import Context
from ..base.request import FrepoRequest


class TokenPolicy:
    """Pyramid's security policy, with tokens only: no sessions and no accounts."""

    def identity(self, request: FrepoRequest) -> Identity | None:
        """Return the token's identity, None without a token. Raises `AccessDeniedError` for an invalid token."""
        return request.identity

    def authenticated_userid(self, request: FrepoRequest) -> str | None:
        """Return the token's fingerprint, which logs may contain."""
        identity = self.identity(request)
        return identity.fingerprint if identity else None

    def permits(self, request: FrepoRequest, context: Any, permission: str) -> Allowed | Denied:
        """Apply the rule of the permission. Without a token nothing is permitted."""
        identity = self.identity(request)
        listed = isinstance(context, Context) and context.listed
        if identity and allows(permission, identity, listed=listed):
            return Allowed(permission)
        return Denied(permission)

    def remember(self, request: FrepoRequest, userid: str, **options: Any) -> list[tuple[str, str]]:
        """Set no cookie: clients send the token with each request."""
        return []

    def forget(self, request: FrepoRequest, **options: Any) -> list[tuple[str, str]]:
        """Set no cookie."""
        return []
