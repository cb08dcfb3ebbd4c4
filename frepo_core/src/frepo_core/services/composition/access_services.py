"""The services for tokens, passwords and links."""

from dataclasses import dataclass

from ..access.passwords import Passwords
from ..access.protected_urls import ProtectedUrls
from ..access.signed_links import SignedLinks
from ..access.token_changes import TokenChanges
from ..access.token_inventory import TokenInventory
from ..access.token_uses import TokenUses
from ..access.tokens import Tokens
from ..foundation import Foundation


@dataclass(frozen=True, kw_only=True)
class AccessServices:
    """The services for tokens, passwords and links."""

    passwords: Passwords
    links: SignedLinks
    protected_urls: ProtectedUrls
    tokens: Tokens
    token_uses: TokenUses
    token_inventory: TokenInventory
    token_changes: TokenChanges


def build_access(base: Foundation) -> AccessServices:
    """Build the services of this theme."""
    uses = TokenUses(base.database, is_read_only=base.settings.read_only)
    inventory = TokenInventory(base.database, base.settings)
    return AccessServices(
        passwords=Passwords(base.settings),
        links=SignedLinks(base.settings),
        protected_urls=ProtectedUrls(base.settings),
        tokens=Tokens(base.database, base.settings, uses),
        token_uses=uses,
        token_inventory=inventory,
        token_changes=TokenChanges(base.database, base.settings, inventory),
    )
