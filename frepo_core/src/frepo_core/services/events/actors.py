"""Names who caused an event: a token, a job, or a user of `frepo`."""

import functools
import getpass
import os

from frepo_core.domain.identity import Actor, By, Identity
from frepo_core.domain.roles import Role

# The lengths of the columns.
_MAX_ACTOR, _MAX_ADDRESS = 128, 64


def actor_columns(by: By) -> dict[str, str | None]:
    """Return the columns `actor`, `actor_name` and `address` of an event. `by` is None for `frepo`."""
    address = by.address if by else ""
    token_name = by.name if isinstance(by, Identity) else ""
    return {"actor": actor_of(by), "actor_name": token_name or None, "address": address[:_MAX_ADDRESS] or None}


def actor_of(by: By) -> str:
    """Return a token's fingerprint, `system:<job>`, `console:<user>` or `anonymous`. `by` is None for `frepo`."""
    if isinstance(by, Identity):
        return by.fingerprint
    return (by.name if by else console_actor().name)[:_MAX_ACTOR]


@functools.cache
def console_actor() -> Actor:
    """Return the user of the operating system that runs `frepo`; the number of one without a name."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # in a container, users need not have names
        user = str(os.getuid())
    return Actor(name=f"console:{user}")


@functools.cache
def console_identity() -> Identity:
    """Return the user of `frepo` as an administrator, for use cases that require an identity.

    Its fingerprint is the name of the user, and it has no token.
    """
    return Identity(token="", fingerprint=console_actor().name, roles=frozenset({Role.ADMINISTRATOR}))
