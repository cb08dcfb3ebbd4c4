"""Fetches a URL without letting it lead into the operator's own network."""

import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self
from urllib.parse import urljoin

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    LocationValueError,
    NameResolutionError,
    NewConnectionError,
    SSLError,
    URLSchemeUnknown,
)

from frepo_core.domain.addresses import Network
from frepo_core.domain.reach import may_reach
from frepo_core.errors import RemoteFailedError, RemoteRefusedError, RemoteStatusError
from frepo_core.settings import Settings

REDIRECTS = 5
REFUSED = "The URL may not be fetched, or cannot be reached"
BROKEN = "Fetching the URL broke on the way"
TOO_LONG = "Fetching the URL took too long"


class ForbiddenAddressError(HTTPError):
    """A name leads to an address that may not be reached."""


class Fetching:
    """Opens URLs: a name is resolved once, its addresses are checked, and the connection goes to them.

    So a name that changes its address between check and use gains nothing; redirects walk the same road.
    A user and password in the URL are not sent. Content is taken as it comes, whatever its encoding.
    """

    def __init__(self, settings: Settings) -> None:
        self._allowed = settings.add_by_url_allowed_networks
        self._timeout = settings.http_timeout
        self._seconds = settings.long_execution_time
        for name in ("connection", "connectionpool", "poolmanager", "util.retry"):
            logging.getLogger(f"urllib3.{name}").addFilter(_DISCRETION)

    @contextlib.contextmanager
    def open(self, url: str) -> Iterator["RemoteBody"]:
        """Give the body of a URL, to be read once.

        Raises `RemoteRefusedError` (may not be, or cannot be, reached), `RemoteStatusError` (it answered
        4xx or 5xx) or `RemoteFailedError` (anything else); no answer of the remote gets into them.
        """
        with Deadline(self._seconds) as deadline, self._pool(deadline) as pool:
            with _translated(), _DISCRETION:
                response = _follow(pool, url)
            try:
                _check(response)
                yield RemoteBody(response, deadline)
            finally:
                response.close()

    def _pool(self, deadline: "Deadline") -> urllib3.PoolManager:
        pool = urllib3.PoolManager(timeout=urllib3.Timeout(connect=self._timeout, read=self._timeout))

        def connect(connection: Any) -> socket.socket:
            return _connect_checked(connection, self._allowed, deadline)

        pool.pool_classes_by_scheme = {
            "http": _pool_class(urllib3.HTTPConnectionPool, HTTPConnection, connect),
            "https": _pool_class(urllib3.HTTPSConnectionPool, HTTPSConnection, connect),
        }
        return pool


class Deadline:
    """The time that a fetch has: when it is over, whoever reads from its connections sees them end."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._made: list[socket.socket] = []
        self._twins: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def left(self) -> float:
        """Return the seconds that are left. Raises `RemoteFailedError` where there are none."""
        seconds = self._end - time.monotonic()
        if seconds <= 0 or self._over.is_set():
            raise RemoteFailedError(TOO_LONG)
        return seconds

    def watch(self, made: socket.socket) -> None:
        """Take a connection in; TLS takes the socket itself over, but its twin can still cut the connection."""
        with self._lock:
            self.left()
            self._made.append(made)
            self._twins.append(made.dup())

    def __enter__(self) -> Self:
        """Let the time run."""
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leave neither thread nor socket behind."""
        self._timer.cancel()
        self._timer.join()
        for twin in self._twins:
            twin.close()
        for made in self._made:  # urllib3 forgets the connection of an answer whose headers it cannot read
            if (descriptor := made.detach()) != -1:
                os.close(descriptor)

    def _cut(self) -> None:
        with self._lock:
            self._over.set()
            for twin in self._twins:
                with contextlib.suppress(OSError):
                    twin.shutdown(socket.SHUT_RDWR)


class RemoteBody:
    """The body of an answer, as a stream that cannot go back."""

    def __init__(self, response: urllib3.BaseHTTPResponse, deadline: Deadline) -> None:
        self._response = response
        self._deadline = deadline

    def read(self, size: int) -> bytes:
        """Return what has arrived, at most `size` bytes; an empty answer is the end. Never waits for more."""
        with _translated():
            chunk = self._response.read1(size)
        self._deadline.left()  # a connection that was cut looks like one that has come to its end
        return chunk


class _Discretion(logging.Filter, threading.local):
    """Keeps what urllib3 says of a fetched URL out of the log: its query may hold somebody's token or password."""

    active = False

    def filter(self, record: logging.LogRecord) -> bool:
        return not self.active

    def __enter__(self) -> None:
        self.active = True

    def __exit__(self, *_: object) -> None:
        self.active = False


_DISCRETION = _Discretion()


def _follow(pool: urllib3.PoolManager, url: str) -> urllib3.BaseHTTPResponse:
    """Return the first answer that is no redirect. Bodies of redirects are not read, they may be endless."""
    for _ in range(REDIRECTS + 1):
        if not url.lower().startswith(("http://", "https://")):
            raise RemoteRefusedError(REFUSED)
        response = pool.request(
            "GET",
            url,
            redirect=False,
            retries=False,
            preload_content=False,
            decode_content=False,
            headers={"Accept-Encoding": "identity", "User-Agent": "frepo"},
        )
        target = response.get_redirect_location()
        if not target:
            return response
        response.close()
        url = _join(url, target)
    raise RemoteFailedError("The URL redirects too often")


def _join(url: str, target: str) -> str:
    try:
        return urljoin(url, target)
    except ValueError:
        raise RemoteRefusedError(REFUSED) from None


def _check(response: urllib3.BaseHTTPResponse) -> None:
    """Raise unless the answer is a whole content, framed in a way that is understood."""
    if response.status >= 400:
        raise RemoteStatusError(f"The other server answered with status {response.status}")
    if response.status >= 300 or response.status == 206:
        raise RemoteFailedError(f"The other server answered with status {response.status}")
    if response.headers.get("Transfer-Encoding", "chunked").strip().lower() not in {"chunked", "identity"}:
        raise RemoteFailedError(BROKEN)


def _pool_class(pool: Any, connection: Any, connect: Callable[[Any], socket.socket]) -> Any:
    """Make a pool whose connections are opened by `connect`; TLS still checks the name."""
    guarded = type("GuardedConnection", (connection,), {"_new_conn": connect})
    return type("GuardedPool", (pool,), {"ConnectionCls": guarded})


def _connect_checked(connection: Any, allowed: Sequence[Network], deadline: Deadline) -> socket.socket:
    """Resolve once, refuse if one of the addresses is not public, connect to those that were checked."""
    try:
        found = socket.getaddrinfo(connection._dns_host, connection.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, OverflowError) as error:
        raise NewConnectionError(connection, f"The name cannot be resolved: {error}") from error
    for *_, address in found:
        if not may_reach(str(address[0]), allowed):
            raise ForbiddenAddressError("The URL leads to an address that is not public")
    last: OSError | None = None
    for family, kind, protocol, _, address in found:
        try:
            return _connect(socket.socket(family, kind, protocol), address, connection.timeout, deadline)
        except OSError as error:
            last = error
    raise NewConnectionError(connection, f"No connection: {last}") from last


def _connect(made: socket.socket, address: Any, timeout: float, deadline: Deadline) -> socket.socket:
    with contextlib.ExitStack() as on_failure:
        on_failure.callback(made.close)
        made.settimeout(min(timeout, deadline.left()))
        made.connect(address)
        made.settimeout(timeout)
        deadline.watch(made)
        on_failure.pop_all()
    return made


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (
        ForbiddenAddressError,
        NameResolutionError,
        NewConnectionError,
        ConnectTimeoutError,
        LocationValueError,
        URLSchemeUnknown,
        SSLError,
    ) as error:
        raise RemoteRefusedError(REFUSED) from error
    except (HTTPError, OSError, ValueError) as error:
        raise RemoteFailedError(BROKEN) from error
