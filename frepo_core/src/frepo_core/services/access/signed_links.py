"""Signed links: they stand in for a token, so that following them needs none."""

import time
from urllib.parse import quote, urlencode

from frepo_core.domain.signatures import LINK_SECONDS, link_is_valid, sign_link
from frepo_core.settings import Settings


class SignedLinks:
    """Makes and checks the paths under which files are downloaded."""

    def __init__(self, settings: Settings) -> None:
        self._secret = settings.app_secret.get_secret_value()

    def plain(self, stored_name: str) -> str:
        """Return the path of a file that needs no signature."""
        return f"/repository/file/{quote(stored_name)}"

    def signed(self, stored_name: str, *, unlocked: bool) -> str:
        """Return a path that is good for ten minutes; `unlocked` where the password was given already."""
        expires = int(time.time()) + LINK_SECONDS
        signature = sign_link(self._secret, stored_name, expires, unlocked=unlocked)
        return f"{self.plain(stored_name)}?{urlencode({'expires': expires, 'signature': signature})}"

    def is_valid(self, stored_name: str, expires: str, signature: str, *, unlocked: bool) -> bool:
        """Tell whether the query of a link is one that `signed` made, and still good."""
        if not (expires.isascii() and expires.isdigit() and len(expires) < 16):
            return False
        return link_is_valid(self._secret, stored_name, int(expires), signature, now=time.time(), unlocked=unlocked)
