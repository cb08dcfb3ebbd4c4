"""The HTTP client for add-by-url: connects only to checked addresses and accepts only complete answers."""

import contextlib
import re
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from email.errors import (
    FirstHeaderLineIsContinuationDefect,
    InvalidHeaderDefect,
    MisplacedEnvelopeHeaderDefect,
    MissingHeaderBodySeparatorDefect,
)
from typing import Any
from urllib.parse import urljoin

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    LocationValueError,
    NewConnectionError,
    SSLError,
    URLSchemeUnknown,
)
from urllib3.util import parse_url

from frepo_core.domain.network.addresses import Network
from frepo_core.domain.network.public_addresses import may_fetch_from
from frepo_core.errors import RemoteFailedError, RemoteRefusedError, RemoteStatusError

from .deadline import Deadline

REDIRECTS = 5
REFUSED = "The URL may not be fetched, or cannot be reached"
BROKEN = "Fetching the URL broke on the way"
BAD_SCHEME = "The scheme of the URL, or of a redirect, is not http or https."
BAD_URL = "The URL, or a redirect, is not valid."
BAD_NAME = "The host name of the URL, or of a redirect, cannot be resolved."
BAD_ADDRESS = (
    "The host of the URL, or of a redirect, has an address that is not public. "
    "The operator can allow it with {setting}."
)
NO_CONNECTION = "The host of the URL, or of a redirect, does not accept a connection."
BAD_CERTIFICATE = "The certificate of the host of the URL, or of a redirect, is not valid or not trusted."
CUT = "The connection broke, or the answer is not valid HTTP."
_NONE: Mapping[str, str] = {}
_LENGTHS = re.compile(r"\s*[0-9]{1,18}\s*(,\s*[0-9]{1,18}\s*)*")  # urllib3 refuses those that differ
# After an invalid header line, Python treats all following headers as text, so the body's length would be unknown.
_LOST_HEADERS = (
    MissingHeaderBodySeparatorDefect,
    FirstHeaderLineIsContinuationDefect,
    MisplacedEnvelopeHeaderDefect,
    InvalidHeaderDefect,
)


class ForbiddenAddressError(HTTPError):
    """A host name resolves to an address that must not be connected to."""


class UnknownHostError(HTTPError):
    """A host name has no address."""


# Subclasses come before their base classes.
_REASONS: Mapping[type[HTTPError], str] = {
    ForbiddenAddressError: BAD_ADDRESS,
    UnknownHostError: BAD_NAME,
    NewConnectionError: NO_CONNECTION,
    ConnectTimeoutError: NO_CONNECTION,
    URLSchemeUnknown: BAD_SCHEME,
    LocationValueError: BAD_URL,
}


class RemoteBody:
    """The body of an answer, as a stream that can be read once."""

    def __init__(self, response: urllib3.BaseHTTPResponse, deadline: Deadline) -> None:
        self._response = response
        self._deadline = deadline

    def read(self, size: int) -> bytes:
        """Return the bytes that have arrived, at most `size`; empty at the end. Waits only if none have arrived."""
        try:
            chunk = self._response.read1(size)
        except (HTTPError, OSError, ValueError) as error:
            self._deadline.remaining()
            raise RemoteFailedError(BROKEN) from error
        self._deadline.remaining()  # a connection that the deadline shut down looks like the end of the body
        return chunk


class StrictContext(ssl.SSLContext):
    """A TLS context that raises if the connection ends without a closure alert (RFC 9112, 9.8): data may be missing."""

    def wrap_socket(self, *arguments: Any, **options: Any) -> ssl.SSLSocket:
        """Wrap a socket and report truncation."""
        return super().wrap_socket(*arguments, **options | {"suppress_ragged_eofs": False})


def make_tls() -> ssl.SSLContext:
    """Make a TLS context. Reading the system's certificates takes 20 ms, so it should be reused."""
    context = StrictContext(ssl.PROTOCOL_TLS_CLIENT)
    context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF  # which Python 3.11.2 of Debian 12 sets
    context.load_default_certs()
    return context


def make_pool(
    timeout: float, allowed: Sequence[Network], deadline: Deadline, tls: ssl.SSLContext
) -> urllib3.PoolManager:
    """Make a pool that connects only to public addresses and to those of `allowed`. The timeout is in seconds."""
    pool = urllib3.PoolManager(timeout=urllib3.Timeout(connect=timeout, read=timeout), ssl_context=tls)

    def connect(connection: Any) -> socket.socket:
        return _connect_checked(connection, allowed, deadline)

    pool.pool_classes_by_scheme = {
        "http": _pool_class(urllib3.HTTPConnectionPool, HTTPConnection, connect),
        "https": _pool_class(urllib3.HTTPSConnectionPool, HTTPSConnection, connect),
    }
    return pool


@contextlib.contextmanager
def translated(deadline: Deadline, setting: str) -> Iterator[None]:
    """Raise the exceptions of urllib3 and of the network as `RemoteError`, or the deadline's error if it has expired.

    `setting` is the name of the setting that allows further networks, for the message.
    """
    try:
        yield
    except tuple(_REASONS) as error:
        reason = next(_REASONS[kind] for kind in _REASONS if isinstance(error, kind))
        raise RemoteRefusedError(REFUSED, reason.format(setting=setting)) from error
    except SSLError as error:  # the certificate is not trusted, or the other side closed the connection
        deadline.remaining()
        raise (
            RemoteFailedError(BROKEN, CUT) if _is_cut(error) else RemoteRefusedError(REFUSED, BAD_CERTIFICATE)
        ) from error
    except (HTTPError, OSError, ValueError) as error:
        deadline.remaining()
        raise RemoteFailedError(BROKEN, CUT) from error


def _is_cut(error: SSLError) -> bool:
    """Return whether the other side closed the connection. Python 3.11.2 names it only in the reason."""
    cause = error.args[0]
    return isinstance(cause, ssl.SSLEOFError) or getattr(cause, "reason", None) == "UNEXPECTED_EOF_WHILE_READING"


def request_once(
    pool: urllib3.PoolManager, method: str, url: str, *, body: bytes | None = None, headers: Mapping[str, str] = _NONE
) -> urllib3.BaseHTTPResponse:
    """Send one request and return the answer, which may be a redirect."""
    if not url.lower().startswith(("http://", "https://")):
        raise RemoteRefusedError(REFUSED, BAD_SCHEME)
    return pool.request(
        method,
        url,
        body=body,
        redirect=False,
        retries=False,
        preload_content=False,
        decode_content=False,
        headers={"Accept-Encoding": "identity", "User-Agent": "frepo", **headers},
    )


def check_host(url: str, allowed: Sequence[Network]) -> None:
    """Raise the error that a request to this URL would raise because of the addresses of its host."""
    parts = parse_url(url)
    if parts.scheme not in {"http", "https"}:
        raise URLSchemeUnknown(str(parts.scheme))
    if not parts.host:
        raise LocationValueError("No host")
    _resolve(parts.host.strip("[]"), parts.port or (443 if parts.scheme == "https" else 80), allowed)


def fetch(pool: urllib3.PoolManager, url: str) -> urllib3.BaseHTTPResponse:
    """Request the URL and follow redirects; return the final answer. Bodies of redirects are not read."""
    for _ in range(REDIRECTS + 1):
        response = request_once(pool, "GET", url)
        target = response.get_redirect_location()
        if not target:
            return response
        response.close()
        url = _join(url, target)
    raise RemoteFailedError("The URL redirects too often")


def check_response(response: urllib3.BaseHTTPResponse) -> None:
    """Raise `RemoteError` unless the answer is a complete content with valid framing."""
    if response.status >= 400:
        raise RemoteStatusError(f"The other server answered with status {response.status}")
    if not 200 <= response.status < 300 or response.status == 206:
        raise RemoteFailedError(f"The other server answered with status {response.status}")
    if any(isinstance(defect, _LOST_HEADERS) for defect in response._original_response.msg.defects):  # type: ignore[attr-defined]
        raise RemoteFailedError(BROKEN)
    coding, length = response.headers.get("Transfer-Encoding", "chunked"), response.headers.get("Content-Length", "0")
    if coding.strip().lower() not in {"chunked", "identity"} or not _LENGTHS.fullmatch(length):
        raise RemoteFailedError(BROKEN)


def _join(url: str, target: str) -> str:
    with contextlib.suppress(UnicodeError):
        target = target.encode("latin-1").decode()  # Python reads bytes of headers as Latin-1; servers write UTF-8
    try:
        return urljoin(url, target)
    except ValueError:
        raise RemoteRefusedError(REFUSED, BAD_URL) from None


def _pool_class(pool: Any, connection: Any, connect: Callable[[Any], socket.socket]) -> Any:
    """Make a pool class that opens connections with `connect`. TLS still checks the host name."""
    guarded = type("GuardedConnection", (connection,), {"_new_conn": connect})
    return type("GuardedPool", (pool,), {"ConnectionCls": guarded})


def _connect_checked(connection: Any, allowed: Sequence[Network], deadline: Deadline) -> socket.socket:
    """Resolve the name once, raise if any address is not public, and connect to the first that accepts."""
    last: OSError | None = None
    for family, kind, protocol, _, address in _resolve(connection._dns_host, connection.port, allowed):
        try:
            return _connect(socket.socket(family, kind, protocol), address, connection.timeout, deadline)
        except OSError as error:
            last = error
    raise NewConnectionError(connection, f"No connection: {last}") from last


def _resolve(host: str, port: int, allowed: Sequence[Network]) -> list[Any]:
    """Return all addresses of a host as `socket.getaddrinfo` does. Raise if any of them is not public."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, OverflowError) as error:
        raise UnknownHostError(str(error)) from error
    for *_, address in found:
        if not may_fetch_from(str(address[0]), allowed):
            raise ForbiddenAddressError("The URL leads to an address that is not public")
    return found


def _connect(made: socket.socket, address: Any, timeout: float, deadline: Deadline) -> socket.socket:
    with contextlib.ExitStack() as on_failure:
        on_failure.callback(made.close)
        made.settimeout(min(timeout, deadline.remaining()))
        made.connect(address)
        made.settimeout(timeout)
        deadline.add_connection(made)
        on_failure.pop_all()
    return made
