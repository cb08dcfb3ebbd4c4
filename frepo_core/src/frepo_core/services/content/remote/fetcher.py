"""Fetches URLs (add-by-url), but never from addresses in the operator's own network."""

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
from .url_log_filter import URL_LOG_FILTER

if TYPE_CHECKING:
    from ssl import SSLContext

    from .http_client import RemoteBody

log = logging.getLogger(__name__)

SETTING = "add_by_url.allowed_networks"


class Fetcher:
    """Opens URLs. A host name is resolved once, its addresses are checked, and only those are connected to.

    So an attacker gains nothing by changing a name's address after the check. Redirects are checked in the same way.
    A user and password in the URL are not sent. The body is not decoded.
    """

    def __init__(self, settings: Settings) -> None:
        self._allowed = settings.add_by_url_allowed_networks
        self._timeout = settings.http_timeout
        self._seconds = settings.long_execution_time
        self._tls: SSLContext | None = None
        self._slots = threading.BoundedSemaphore(settings.add_by_url_at_once)

    @contextlib.contextmanager
    def open(self, url: str, *, by: Identity) -> Iterator["RemoteBody"]:
        """Yield the body of a URL, which can be read once. Failures are logged with the host, without path and query.

        Raises `RemoteRefusedError` if the URL may not be or cannot be reached, `RemoteStatusError` if it answers 4xx or
        5xx, `RemoteFailedError` for any other failure, and `RemotesBusyError` if too many URLs are being fetched. The
        messages contain nothing that the remote server has sent.
        """
        if not self._slots.acquire(blocking=False):
            raise RemotesBusyError("Too many URLs are being fetched, try again later")
        try:
            with self._open(url) as body:
                yield body
        except RemoteError as error:
            log.warning("add-by-url of token %s from %r failed: %s", by.fingerprint, _host(url), error.reason)
            raise
        finally:
            self._slots.release()

    @contextlib.contextmanager
    def _open(self, url: str) -> Iterator["RemoteBody"]:
        # Imported here so that the start does not wait for urllib3.
        from .http_client import RemoteBody, check_response, fetch, make_pool, make_tls, translated

        self._tls = self._tls or make_tls()
        with Deadline(self._seconds) as deadline, make_pool(self._timeout, self._allowed, deadline, self._tls) as pool:
            with translated(deadline, SETTING), URL_LOG_FILTER:
                response = fetch(pool, url)
            try:
                deadline.remaining()  # headers that end early at the deadline look complete
                check_response(response)
                yield RemoteBody(response, deadline)
            finally:
                response.close()


def _host(url: str) -> str:
    """Return the scheme and host of a URL. User, path and query may contain a secret."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.hostname or ''}"[:300]
    except ValueError:
        return "an invalid URL"
