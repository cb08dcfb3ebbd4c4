"""Signed links: download URLs that work without a token for a limited time."""

import time
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from frepo_core.domain.signatures import LINK_SECONDS, link_is_valid, sign_link
from frepo_core.settings import Settings

from ..base.records import FileRecord


class SignedLinks:
    """Makes and checks download paths."""

    def __init__(self, settings: Settings) -> None:
        self._secret = settings.app_secret.get_secret_value()

    def plain(self, stored_name: str) -> str:
        """Return the path of a file without a signature."""
        return f"/repository/file/{quote(stored_name)}"

    def signed(self, file: FileRecord, *, unlocked: bool) -> str:
        """Return a signed path that is valid for ten minutes.

        With `unlocked` it needs no password either, and ends when the password is changed.
        """
        return self.signed_for(file, LINK_SECONDS, unlocked=unlocked)[0]

    def signed_for(self, file: FileRecord, seconds: int, *, unlocked: bool) -> tuple[str, datetime]:
        """Return a signed path that is valid for `seconds`, at most ten minutes, and when it expires (aware, UTC)."""
        expires = int(time.time()) + min(seconds, LINK_SECONDS)
        signature = sign_link(
            self._secret, file.stored_name, expires, unlocked=unlocked, password_hash=file.password_hash
        )
        path = f"{self.plain(file.stored_name)}?{urlencode({'expires': expires, 'signature': signature})}"
        return path, datetime.fromtimestamp(expires, UTC)

    def is_valid(self, file: FileRecord, expires: str, signature: str, *, unlocked: bool) -> bool:
        """Return whether `signed` made a link with this query and the link has not expired."""
        if not (expires.isascii() and expires.isdigit() and len(expires) < 16):
            return False
        return link_is_valid(
            self._secret,
            file.stored_name,
            int(expires),
            signature,
            now=time.time(),
            unlocked=unlocked,
            password_hash=file.password_hash,
        )
