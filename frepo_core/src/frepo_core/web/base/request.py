"""The request object of the views: services, identity, client address and validated input."""

import contextlib
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from pydantic import BaseModel
from pyramid.request import Request

from frepo_core.domain.identity import Identity
from frepo_core.domain.network.addresses import client_address, is_in_networks, parse_address, parse_base_path
from frepo_core.errors import AccessDeniedError, MalformedRequestError
from frepo_core.services.access.tokens import NO_ACCESS
from frepo_core.services.backups.rotation.overtaken import Sending
from frepo_core.services.backups.trash.version_room import VersionRoom
from frepo_core.services.base.records import CollectionRecord
from frepo_core.services.composition.container import Services
from frepo_core.services.content.spool import Spool

Model = TypeVar("Model", bound=BaseModel)
V1 = "/api/v1"
# Keys of the WSGI environment, about the time before the body arrived: the last number of the collection, the identity
# of the token, whether the collection lists it, when the head was complete (by `time.monotonic`), to which collection
# the body is uploaded, and since when its client was silent (by `time.monotonic`).
NOTED, SENDER, LISTED, HEAD_AT = "frepo.noted", "frepo.sender", "frepo.listed", "frepo.head_at"
UPLOAD_TO, SILENT_AT = "frepo.upload_to", "frepo.silent_at"
_HOST = re.compile(r"(?:[\w.~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?", re.ASCII)


Value = TypeVar("Value")


class LazyProperty(Generic[Value]):
    """Finds a value at its first use, and keeps it in the object. An error is not kept.

    `functools.cached_property` of Python 3.11 lets all other threads wait meanwhile, those of other objects, too.
    """

    def __init__(self, find: Callable[[Any], Value]) -> None:
        self.fget = find
        self.__doc__ = find.__doc__

    def __get__(self, owner: Any, kind: type | None = None) -> Value:
        """Find the value. Later uses do not come here: Python looks into the object first."""
        value = owner.__dict__[self.fget.__name__] = self.fget(owner)
        return value


def is_v1_path(path: str) -> bool:
    """Return whether a path belongs to the second API, whose conventions for tokens, errors and queries differ."""
    return path.startswith(V1) and path[len(V1) : len(V1) + 1] in {"", "/"}


class FrepoRequest(Request):  # type: ignore[misc]  # Pyramid has no types
    """One request. Views read only the attributes that are defined here, and `matchdict`.

    `request.matchdict["name"]` is the parameter `{name}` of the path: a text without a slash.
    """

    endpoint: Any = None
    # The class of the error that was answered, for metrics.
    error_name: str = ""
    # Whether the token is valid. Without that, `/api/v1` answers 401 to what is not allowed, else 403.
    is_authenticated: bool = False
    # What `body_sink` of the endpoint has returned, in the view.
    body_sink: Any = None
    # Whose body this is: the token, if `body_sink` of an endpoint that ignores tokens has found it to be valid.
    body_owner: str | None = None
    # Up to which size the body may arrive before it is asked about again; None: up to its end.
    next_step: int | None = None
    parsed_body: BaseModel
    parsed_query: BaseModel

    @LazyProperty
    def services(self) -> Services:
        """The services."""
        services: Services = self.registry.services
        return services

    @LazyProperty
    def is_v1(self) -> bool:
        """Whether the path is below `/api/v1`."""
        return is_v1_path(self.environ.get("PATH_INFO", ""))

    @property
    def params_in_query(self) -> list[tuple[str, str]]:
        """Names and values of the query. WebOb's `params` would parse the body, too."""
        if not self.query_string:
            return []
        try:
            return list(self.GET.items())
        except UnicodeDecodeError:
            raise MalformedRequestError("The query is not UTF-8") from None

    @LazyProperty
    def client_address(self) -> str:
        """The client's address; behind trusted proxies the one in X-Forwarded-For."""
        forwarded_for = self.headers.get("X-Forwarded-For", "") if self.is_from_proxy else ""
        return client_address(self.remote_addr or "", forwarded_for, self.services.settings.trusted_proxies)

    @LazyProperty
    def is_from_proxy(self) -> bool:
        """Whether a trusted proxy sent the request. Only then X-Forwarded-* headers count."""
        return is_in_networks(parse_address(self.remote_addr or ""), self.services.settings.trusted_proxies)

    @property
    def is_decided(self) -> bool:
        """Whether the application has decided about this request before its body arrived."""
        return bool(self.environ.get("frepo.is_decided"))

    @property
    def arrived(self) -> int:
        """How many bytes of the body have arrived, while it is asked about."""
        return int(self.environ.get("frepo.arrived", 0))

    @property
    def announced(self) -> int | None:
        """The size of the body in bytes, as its head says; None if it is unknown: of a chunked body."""
        size: int | None = None if self.environ.get("frepo.chunked") else self.content_length
        return size

    def lend_thread(self) -> bool:
        """Let another thread answer requests while this one waits. Return False if too many wait already."""
        return bool(self.environ.get("frepo.lend", lambda: True)())

    def is_wanted(self) -> bool:
        """Return whether the client still has its connection open, as far as the server can tell."""
        return not self.environ.get("waitress.client_disconnected", bool)()

    @property
    def buffer(self) -> Spool | None:
        """The buffer of the body; None if the server does not show it."""
        buffer: Spool | None = self.environ.get("frepo.buffer")
        return buffer

    @property
    def version_room(self) -> VersionRoom | None:
        """The room of the body of a version, which ends with the body; None if the server does not show its buffer."""
        buffer = self.buffer
        if buffer is None:
            return None
        if buffer.room is None:
            buffer.room = self.services.arrivals.room(self.collection, self.sender)
        room: VersionRoom = buffer.room
        return room

    @LazyProperty
    def token_id(self) -> str:
        """The token id in the request, or an empty text. The API decides where it may be."""
        return str(self.registry.dialects[self.is_v1].token_of(self))

    @property
    def password_in_header(self) -> str:
        """The password in X-File-Password. Clients send UTF-8, which WSGI decodes as Latin-1 (PEP 3333)."""
        raw = str(self.environ.get("HTTP_X_FILE_PASSWORD", ""))
        try:
            return raw.encode("latin-1").decode()
        except UnicodeError:
            return raw

    @LazyProperty
    def identity(self) -> Identity | None:
        """The identity of the token, None if no token was sent. Raises `AccessDeniedError` for an invalid one."""
        if not self.token_id:
            return None
        now = time.monotonic()
        identity = self.services.tokens.identify(
            self.token_id,
            address=self.client_address,
            user_agent=self.user_agent or "",
            age=now - self.environ.get(HEAD_AT, now),
            earlier=self.environ.get(SENDER),
        )
        self.is_authenticated = True
        return identity

    @property
    def sender(self) -> Identity:
        """The identity of the token. Raises `AccessDeniedError` if no token was sent."""
        identity = self.identity
        if identity is None:
            raise AccessDeniedError(NO_ACCESS)
        return identity

    @property
    def collection(self) -> CollectionRecord:
        """The collection that the path or the body names."""
        collection: CollectionRecord = self.context.collection
        return collection

    @property
    def sending(self) -> Sending:
        """How the body was sent: what the server saw of it, and the collection's last number when the head arrived."""
        current, now, today = self.collection.last_number, time.monotonic(), datetime.now(UTC)
        silent = self.environ.get(SILENT_AT)
        return Sending(
            # A collection with the same id may have been created since.
            noted=min(self.environ.get(NOTED, current), current),
            began_at=today - timedelta(seconds=now - self.environ.get(HEAD_AT, now)),
            silent_since=None if silent is None else today - timedelta(seconds=now - silent),
            is_gone=self.environ.get("waitress.client_disconnected", bool),
        )

    def body_as(self, model: type[Model]) -> Model:
        """Return the validated body."""
        assert isinstance(self.parsed_body, model)
        return self.parsed_body

    def query_as(self, model: type[Model]) -> Model:
        """Return the validated query."""
        assert isinstance(self.parsed_query, model)
        return self.parsed_query

    def check_host(self) -> None:
        """Refuse an invalid Host, X-Forwarded-Host, -Proto or -Prefix: links contain them (RFC 9112, 3.2)."""
        if not _HOST.fullmatch(self.host):
            raise MalformedRequestError("The header Host is not a host name or address with an optional port")
        if not self.is_from_proxy:
            return
        if not _HOST.fullmatch(self._forwarded("Host") or self.host):
            raise MalformedRequestError("The header X-Forwarded-Host is not a host name or address")
        if self._forwarded("Proto").lower() not in {"", "http", "https"}:
            raise MalformedRequestError("The header X-Forwarded-Proto is neither http nor https")
        try:
            parse_base_path(self._forwarded("Prefix"))
        except ValueError as error:
            raise MalformedRequestError(f"The header X-Forwarded-Prefix is not a path: {error}") from None

    def _forwarded(self, name: str) -> str:
        """Return the first value of X-Forwarded-<name>, or an empty text if no trusted proxy sent one."""
        header = self.headers.get(f"X-Forwarded-{name}", "") if self.is_from_proxy else ""
        return str(header).partition(",")[0].strip()

    @property
    def prefix(self) -> str:
        """The path of the service at its public address: X-Forwarded-Prefix of a trusted proxy, else `base_path`."""
        with contextlib.suppress(ValueError):  # `check_host` refuses the request; its answer has a link, too
            if prefix := parse_base_path(self._forwarded("Prefix")):
                return prefix
        return self.services.settings.base_path

    def link(self, path: str) -> str:
        """Return the full URL of a path of this service. It never contains a token or a password."""
        scheme = self._forwarded("Proto").lower() or self.scheme
        host = self.services.settings.app_domain or self._forwarded("Host") or self.host
        return f"{scheme}://{host}{self.prefix}{path}"
