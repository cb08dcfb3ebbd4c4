"""Checks whether clients can forge their address or the host in links: by the settings, and by a request."""

import json
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import urllib3

from frepo_core.db import utc_now
from frepo_core.settings import Settings

from .clock import TOLERANCE
from .findings import Finding, good, problem, warning

FORGED = "forged.invalid"
SECONDS = 10
_PORTS = {"http": 80, "https": 443}
_WIDE = 8  # bits of a prefix


def check_proxies(settings: Settings) -> Iterator[Finding]:
    """Yield whether the trusted proxies are plausible."""
    wide = [str(network) for network in settings.trusted_proxies if network.prefixlen < _WIDE]
    if wide:
        yield problem(
            "proxy",
            f"trusted_proxies (TRUSTED_PROXIES) contains {', '.join(wide)}: nearly every client can forge its address",
            "Name the addresses of your proxies only, such as 127.0.0.1",
        )
    elif settings.trusted_proxies:
        trusted = ", ".join(map(str, settings.trusted_proxies))
        yield good("proxy", f"X-Forwarded-* headers are trusted from {trusted}; --url checks what the proxy sends")
    elif settings.app_env == "prod":
        yield warning(
            "proxy",
            "trusted_proxies (TRUSTED_PROXIES) is empty: behind a proxy, all clients have the proxy's address",
            "Set it to the address of the proxy, or ignore this if clients connect to frepo itself",
        )
    else:
        yield good("proxy", "No proxy is trusted: clients connect to frepo itself")


def check_url(url: str) -> Iterator[Finding]:
    """Call the service as a client that forges headers. Yield what is wrong."""
    address = f"{url.rstrip('/')}/api/doc.json"
    headers = {"X-Forwarded-Host": FORGED, "X-Forwarded-Proto": "http"}
    try:
        answer = urllib3.PoolManager(timeout=SECONDS, retries=False).request("GET", address, headers=headers)
        document = json.loads(answer.data) if answer.status == 200 else {}
    except (urllib3.exceptions.HTTPError, ValueError) as error:
        yield problem(
            "address", f"{url} does not answer: {error}", "Check the name, the certificate, and that nginx runs"
        )
        return
    if answer.status != 200:
        yield problem("address", f"{address} answers {answer.status}", "Check that this is the address of frepo")
        return
    found = [server["url"] for server in document.get("servers", [])]
    if any(FORGED in server for server in found):
        yield problem(
            "address",
            "A client's own header X-Forwarded-Host appears in links: the proxy passes it on, and X-Forwarded-For, too",
            "Replace the headers in the proxy, as deploy/nginx.conf does, and allow only the proxy to reach frepo",
        )
    elif _origin(url) not in map(_origin, found):
        yield problem(
            "address",
            f"Links, and the Location of uploads, begin with {', '.join(found)}, but clients use {url}",
            _remedy(url, found),
        )
    else:
        yield good("address", f"{url} answers, and forged headers have no effect")
    yield from _compare_clock(answer.headers.get("Date"))


def _remedy(url: str, found: list[str]) -> str:
    right, wrong = urlsplit(url), urlsplit(found[0] if found else "")
    host, remedies = right.netloc.rpartition("@")[2], []
    if host != wrong.netloc:
        remedies.append(f"Set app.domain (APP_DOMAIN) to {host}, or let the proxy pass Host or X-Forwarded-Host on")
    if right.scheme != wrong.scheme:
        remedies.append("Let the proxy set X-Forwarded-Proto")
    return ". ".join(remedies) + ". X-Forwarded-* headers count from trusted_proxies only"


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _compare_clock(date: str | None) -> Iterator[Finding]:
    if date is None:
        return
    difference = abs(parsedate_to_datetime(date) - utc_now())
    if difference > TOLERANCE:
        seconds = round(difference.total_seconds())
        yield problem(
            "clock", f"The clocks of this machine and of the service differ by {seconds} s", "Synchronize them"
        )
