"""Requests that plug-ins send to other servers, such as webhooks, under the same rules as add-by-url."""

import functools
import ssl
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from frepo_core.domain.network.addresses import Network
from frepo_core.plugins import HttpAnswer

from .deadline import Deadline
from .url_log_filter import URL_LOG_FILTER

if TYPE_CHECKING:
    import urllib3

RESOLVE_SECONDS = 10


def send_request(
    method: str,
    url: str,
    *,
    body: bytes | None,
    headers: Mapping[str, str],
    timeout: float,
    allowed_networks: Sequence[Network],
    setting: str,
) -> HttpAnswer:
    """Send a request and return its answer without the body. See `frepo_core.plugins.Service.send_request`."""
    # Imported here so that the start does not wait for urllib3.
    from .http_client import fetch, make_pool, request_once, translated

    with Deadline(timeout) as deadline, make_pool(timeout, allowed_networks, deadline, _tls()) as pool:
        with translated(deadline, setting), URL_LOG_FILTER:
            is_get = method == "GET" and body is None and not headers
            answer = fetch(pool, url) if is_get else request_once(pool, method, url, body=body, headers=headers)
        try:
            deadline.remaining()  # headers that end early at the deadline look complete
            return _answer_of(answer)
        finally:
            answer.close()


def check_address(url: str, *, allowed_networks: Sequence[Network], setting: str) -> None:
    """Raise `RemoteError` if the host must not be connected to. See `frepo_core.plugins.Service.check_address`."""
    from .http_client import check_host, translated

    with Deadline(RESOLVE_SECONDS) as deadline, translated(deadline, setting):
        check_host(url, allowed_networks)


def _answer_of(answer: "urllib3.BaseHTTPResponse") -> HttpAnswer:
    return HttpAnswer(status=answer.status, headers={name.lower(): value for name, value in answer.headers.items()})


@functools.cache
def _tls() -> ssl.SSLContext:
    from .http_client import make_tls

    return make_tls()
