"""Fetches a URL without letting it lead into the operator's own network."""

import contextlib
import logging
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from frepo_core.domain.identity import Identity
from frepo_core.errors import RemoteError, RemotesBusyError
from frepo_core.settings import Settings

from .deadline import Deadline

if TYPE_CHECKING:
    from ssl import SSLContext

    from .http_client import RemoteBody


log = logging.getLogger(__name__)


class Fetcher:
    """Opens URLs: a name is resolved once, its addresses are checked, and the connection goes to them.

    So a name that changes its address between check and use gains nothing; redirects walk the same road.
    A user and password in the URL are not sent. Content is taken as it comes, whatever its encoding.
    """

    def __init__(self, settings: Settings) -> None:
        self._allowed = settings.add_by_url_allowed_networks
        self._timeout = settings.http_timeout
        self._seconds = settings.long_execution_time
        self._tls: SSLContext | None = None
        self._room = threading.BoundedSemaphore(settings.add_by_url_at_once)
        for name in ("connection", "connectionpool", "poolmanager", "util.retry"):
            logging.getLogger(f"urllib3.{name}").addFilter(_URL_LOG_FILTER)

    @contextlib.contextmanager
    def open(self, url: str, *, by: Identity) -> Iterator["RemoteBody"]:
        """Give the body of a URL, to be read once. What fails is logged with the host, without path and query.

        Raises `RemoteRefusedError` (may not be, or cannot be, reached), `RemoteStatusError` (it answered
        4xx or 5xx) or `RemoteFailedError` (anything else); no answer of the remote gets into them.
        `RemotesBusyError`: others are being fetched, as many as may be at once.
        """
        if not self._room.acquire(blocking=False):
            raise RemotesBusyError("Too many URLs are being fetched, try again later")
        try:
            with self._open(url) as body:
                yield body
        except RemoteError as error:
            log.warning("add-by-url of token %s from %r failed: %s", by.fingerprint, _host(url), error.reason)
            raise
        finally:
            self._room.release()

    @contextlib.contextmanager
    def _open(self, url: str) -> Iterator["RemoteBody"]:
        # With it comes urllib3, which no start has to wait for.
        from .http_client import RemoteBody, check_response, fetch, make_pool, make_tls, translated

        self._tls = self._tls or make_tls()
        with Deadline(self._seconds) as deadline, make_pool(self._timeout, self._allowed, deadline, self._tls) as pool:
            with translated(deadline), _URL_LOG_FILTER:
                response = fetch(pool, url)
            try:
                deadline.remaining()  # headers that were cut look like others
                check_response(response)
                yield RemoteBody(response, deadline)
            finally:
                response.close()


def _host(url: str) -> str:
    """Return scheme and host of a URL; user, path and query may hold a secret."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.hostname or ''}"[:300]
    except ValueError:
        return "an invalid URL"


class _UrlLogFilter(logging.Filter, threading.local):
    """Keeps what urllib3 says of a fetched URL out of the log: its query may hold somebody's token or password."""

    active = False

    def filter(self, record: logging.LogRecord) -> bool:
        return not self.active

    def __enter__(self) -> None:
        self.active = True

    def __exit__(self, *_: object) -> None:
        self.active = False


_URL_LOG_FILTER = _UrlLogFilter()
