"""Decides whether a token may be used now, from this address, by this client."""

from datetime import datetime

from frepo_core.domain.identity import Identity
from frepo_core.domain.network.addresses import is_allowed
from frepo_core.domain.wildcards import matches

# Browsers send about 200 characters.
MAX_USER_AGENT = 2_000


def refusal_reason(identity: Identity, address: str, user_agent: str, began: datetime) -> str | None:
    """Return why the token is not valid for this client, or None if it is. The request began at `began` (UTC)."""
    if identity.expires_at and identity.expires_at <= began:
        return "it has expired"
    if not is_allowed(address, identity.ip_addresses):
        return "this address is not allowed"
    if identity.user_agents and len(user_agent) > MAX_USER_AGENT:
        return f"this User-Agent is longer than {MAX_USER_AGENT} characters"
    if identity.user_agents and not any(matches(pattern, user_agent) for pattern in identity.user_agents):
        return "this User-Agent is not allowed"
    return None
