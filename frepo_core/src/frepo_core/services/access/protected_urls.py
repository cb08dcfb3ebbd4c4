"""Protected download URLs (anti-hotlink): another web site makes their access tokens, this module checks them."""

import logging
import re
import time
from collections.abc import Callable

from frepo_core.domain.anti_hotlink_hash import (
    access_token,
    expand_template,
    find_unknown_variables,
    has_expired,
    is_valid,
    needs_key,
)
from frepo_core.errors import AccessDeniedError, ConfigurationError
from frepo_core.settings import Settings

_NEEDED = {"{accessToken}", "{fileId}"}
_PLAIN_PART = re.compile(r"[A-Za-z0-9._~-]*")

log = logging.getLogger(__name__)


class ProtectedUrls:
    """Checks access tokens. Raises `ConfigurationError` at start if the settings cannot work."""

    def __init__(self, settings: Settings) -> None:
        self._template = settings.anti_hotlink_secret_method.get_secret_value()
        self._crypto = settings.anti_hotlink_crypto
        self._key = settings.anti_hotlink_key.get_secret_value()
        self.route = settings.anti_hotlink_url
        self.enabled = settings.anti_hotlink_protection_enabled and bool(self._template)
        if settings.anti_hotlink_protection_enabled and not self._template:
            log.warning(
                "anti_hotlink.protection_enabled is true, but there is no protected URL: "
                "set the template anti_hotlink.secret_method (ANTI_HOTLINK_SECRET_METHOD)"
            )
        if self.enabled:
            self._check_settings()
            self._check_key(settings)

    def verify(self, token: str, expiration: str | None, value_of: Callable[[str], str]) -> None:
        """Raise `AccessDeniedError` if the token does not match the values of the request, or has expired."""
        expected = access_token(self._crypto, expand_template(self._template, value_of), self._key)
        if not is_valid(token, expected) or has_expired(expiration, now=time.time()):
            raise AccessDeniedError("No access")

    def _check_key(self, settings: Settings) -> None:
        """Refuse an HMAC that has no separate key: a web site that knows app.secret can sign links to all backups."""
        if not needs_key(self._crypto):
            return
        if not self._key:
            raise ConfigurationError(
                f"anti_hotlink.crypto = {self._crypto} needs a key: set anti_hotlink.key (ANTI_HOTLINK_KEY), e.g. from "
                "`openssl rand -hex 32`, and give it to the web site that makes the URLs. app.secret is no longer used "
                "as the key, as it also signs the links to backups: change app.secret if the web site knows it"
            )
        if self._key in {settings.app_secret.get_secret_value(), settings.enc_token_phrase.get_secret_value()}:
            raise ConfigurationError(
                "anti_hotlink.key (ANTI_HOTLINK_KEY) must differ from app.secret and enc.token_phrase, which a web "
                "site must not know. Make another one, e.g. with `openssl rand -hex 32`"
            )

    def _check_settings(self) -> None:
        try:
            access_token(self._crypto, "", "")
        except ValueError as error:
            raise ConfigurationError(f"anti_hotlink.crypto (ANTI_HOTLINK_CRYPTO): {error}") from None
        if unknown := find_unknown_variables(self._template):
            raise ConfigurationError(
                "anti_hotlink.secret_method (ANTI_HOTLINK_SECRET_METHOD) has an unknown variable at characters "
                f"{' and '.join(f'{first} to {last}' for first, last in unknown)}. Known variables are "
                "$expiration_time, $filename, $http_<header>, $query_<name> and $server_<variable>"
            )
        if not _can_route(self.route):
            raise ConfigurationError(
                f"anti_hotlink.url (ANTI_HOTLINK_URL) is {self.route!r}. It must be a path that has {{accessToken}}, "
                "{fileId} and optionally {expirationTime} as whole segments, each once"
            )


def _can_route(pattern: str) -> bool:
    """Return whether the pattern is usable as a route. Other placeholders, or mixed segments, would be ambiguous."""
    first, *parts = pattern.split("/")
    variables = [part for part in parts if not _PLAIN_PART.fullmatch(part)]
    return (
        first == ""
        and len(variables) == len(set(variables))
        and _NEEDED <= set(variables) <= _NEEDED | {"{expirationTime}"}
    )
