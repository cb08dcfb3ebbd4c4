"""The request as views see it: the services, who asks, from where, and what was validated."""

import re
from functools import cached_property
from typing import Any, TypeVar, cast

from pydantic import BaseModel
from pyramid.request import Request

from frepo_core.domain.identity import Identity
from frepo_core.domain.network.addresses import is_in_networks, parse_address
from frepo_core.domain.network.client_address import client_address
from frepo_core.errors import AccessDeniedError, MalformedRequestError
from frepo_core.services.container import Services
from frepo_core.services.records import CollectionRecord

Model = TypeVar("Model", bound=BaseModel)
_HOST = re.compile(r"(?:[\w.~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?", re.ASCII)


class FrepoRequest(Request):  # type: ignore[misc]  # Pyramid has no types
    """One request. Views read the parts named here, and no other state."""

    endpoint: Any = None
    parsed_body: BaseModel
    parsed_query: BaseModel

    @property
    def services(self) -> Services:
        """The use cases."""
        return cast(Services, self.registry.services)

    @property
    def params_in_query(self) -> list[tuple[str, str]]:
        """The query's names and values; never the body's, which reading `params` would parse."""
        if not self.query_string:
            return []
        try:
            return list(self.GET.items())
        except UnicodeDecodeError:
            raise MalformedRequestError("The query is not UTF-8") from None

    @cached_property
    def client_address(self) -> str:
        """The client's address, behind trusted proxies the one that they name."""
        return client_address(
            self.remote_addr or "", self.headers.get("X-Forwarded-For", ""), self.services.settings.trusted_proxies
        )

    @cached_property
    def is_from_proxy(self) -> bool:
        """Tell whether a trusted proxy sent this, so that its X-Forwarded-* can be believed."""
        return is_in_networks(parse_address(self.remote_addr or ""), self.services.settings.trusted_proxies)

    @property
    def was_decided(self) -> bool:
        """Tell whether the server asked about this request before its body arrived."""
        return bool(self.environ.get("frepo.decided"))

    @property
    def token_id(self) -> str:
        """The token that was sent, or an empty text; the query wins, even when empty."""
        for name, value in self.params_in_query:
            if name == "_token":
                return str(value)
        for header in ("HTTP_X_AUTH_TOKEN", "HTTP_TOKEN"):  # by WSGI's names, which WebOb would look for, too
            if value := self.environ.get(header):
                return str(value).strip()
        scheme, _, credentials = self.environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        return str(credentials).strip() if scheme.lower() == "bearer" else ""

    @property
    def password_in_header(self) -> str:
        """The password in X-File-Password; clients write UTF-8, which WSGI hands over as Latin-1 (PEP 3333)."""
        raw = str(self.environ.get("HTTP_X_FILE_PASSWORD", ""))
        try:
            return raw.encode("latin-1").decode()
        except UnicodeError:
            return raw

    @property
    def sender(self) -> Identity:
        """Who asks; raises `AccessDeniedError` where no token was sent."""
        if self.identity is None:
            raise AccessDeniedError("No access: a valid token is needed")
        return cast(Identity, self.identity)

    @property
    def collection(self) -> CollectionRecord:
        """The collection that the request is about."""
        return cast(CollectionRecord, self.context.collection)

    def body_as(self, model: type[Model]) -> Model:
        """Return the validated body."""
        assert isinstance(self.parsed_body, model)
        return self.parsed_body

    def query_as(self, model: type[Model]) -> Model:
        """Return the validated query."""
        assert isinstance(self.parsed_query, model)
        return self.parsed_query

    def check_host(self) -> None:
        """Refuse a Host, or a forwarded host or scheme, that must not get into links (RFC 9112, 3.2)."""
        if not _HOST.fullmatch(self.host):
            raise MalformedRequestError("The header Host is no host name or address, with a port or without")
        if not _HOST.fullmatch(self._forwarded("Host") or self.host):
            raise MalformedRequestError("The header X-Forwarded-Host is no host name or address")
        if self._forwarded("Proto").lower() not in {"", "http", "https"}:
            raise MalformedRequestError("The header X-Forwarded-Proto is neither http nor https")

    def _forwarded(self, name: str) -> str:
        """Return the first value of X-Forwarded-<name>, or an empty text if no trusted proxy sent one."""
        header = self.headers.get(f"X-Forwarded-{name}", "") if self.is_from_proxy else ""
        return str(header).partition(",")[0].strip()

    def link(self, path: str) -> str:
        """Return a full URL of a path on this service; it never carries a token or a password."""
        scheme = self._forwarded("Proto").lower() or self.scheme
        host = self.services.settings.app_domain or self._forwarded("Host") or self.host
        return f"{scheme}://{host}{path}"
