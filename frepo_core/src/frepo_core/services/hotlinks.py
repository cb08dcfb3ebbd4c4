"""Protected download URLs: made by a web site that knows the template, checked here."""

import re
import time
from collections.abc import Callable

from frepo_core.domain.hotlink import access_token, fill_in, has_expired, is_valid, unknown_variables
from frepo_core.errors import AccessDeniedError, ConfigurationError
from frepo_core.settings import Settings

_NEEDED = {"{accessToken}", "{fileId}"}
_PLAIN_PART = re.compile(r"[A-Za-z0-9._~-]*")


class Hotlinks:
    """Checks access tokens. Raises `ConfigurationError` at start for what cannot work."""

    def __init__(self, settings: Settings) -> None:
        self._template = settings.anti_hotlink_secret_method.get_secret_value()
        self._crypto = settings.anti_hotlink_crypto
        self._secret = settings.app_secret.get_secret_value()
        self.route = settings.anti_hotlink_url
        self.enabled = settings.anti_hotlink_protection_enabled and bool(self._template)
        if self.enabled:
            self._check_settings()

    def check(self, token: str, expiration: str | None, value_of: Callable[[str], str]) -> None:
        """Raise `AccessDeniedError` where the token does not fit the request's values, or its time is over."""
        expected = access_token(self._crypto, fill_in(self._template, value_of), self._secret)
        if not is_valid(token, expected) or has_expired(expiration, now=time.time()):
            raise AccessDeniedError("No access")

    def _check_settings(self) -> None:
        try:
            access_token(self._crypto, "", "")
        except ValueError as error:
            raise ConfigurationError(f"anti_hotlink.crypto (ANTI_HOTLINK_CRYPTO): {error}") from None
        if unknown := unknown_variables(self._template):
            raise ConfigurationError(
                "anti_hotlink.secret_method (ANTI_HOTLINK_SECRET_METHOD) has a variable that there is none of: characters "
                f"{' and '.join(f'{first} to {last}' for first, last in unknown)}. There are $expiration_time, $filename, "
                "$http_<header>, $query_<name> and $server_<variable>"
            )
        if not _can_route(self.route):
            raise ConfigurationError(
                "anti_hotlink.url (ANTI_HOTLINK_URL): a path with {accessToken}, {fileId} and, if wanted, "
                f"{{expirationTime}} as whole parts is needed, each once, not {self.route!r}"
            )


def _can_route(pattern: str) -> bool:
    """Tell whether a pattern leads to files: other placeholders, or parts that are mixed, would be ambiguous."""
    first, *parts = pattern.split("/")
    variables = [part for part in parts if not _PLAIN_PART.fullmatch(part)]
    return (
        first == ""
        and len(variables) == len(set(variables))
        and _NEEDED <= set(variables) <= _NEEDED | {"{expirationTime}"}
    )
