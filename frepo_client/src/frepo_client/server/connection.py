"""Requests to one server, with the standard library: proxies and certificates are those of the system."""

from __future__ import annotations

import http.client
import json
import re
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from functools import cached_property
from typing import Any, BinaryIO

from .. import __version__
from ..errors import RefusedError, UsageError
from .throttle import Throttled
from .waiting import pieces, timed_handlers

# Seconds without a byte from the server. Its checks of a large backup may take minutes before it answers; what only
# reads is answered at once.
TIMEOUT = 300.0
TIMEOUT_OF_READING = 60.0
MOST_OF_AN_ANSWER = 16 << 20
# What the server or the proxy before it may answer while it starts, stops, or is busy.
TOO_LARGE = 413
_VISIBLE = re.compile(r"[^\x00-\x20\x7f]+")
TRANSIENT = frozenset({408, 423, 425, 429, 500, 502, 503, 504, 507})


class ConnectionFailedError(Exception):
    """No answer arrived, or only a part of it. Whether the request had an effect is not known."""


class TransientAnswerError(Exception):
    """The server cannot answer now. `retry_after` is in seconds, None if it did not say."""

    def __init__(self, message: str, status: int, retry_after: float | None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class TooLargeForProxyError(RefusedError):
    """A proxy takes no body of this size; a service says the same as a problem with a code."""

    def __init__(self, status: int) -> None:
        super().__init__(
            f"a proxy before the service takes no body of this size (HTTP {status}): raise its limit, which is "
            "client_max_body_size of nginx, to 20 MB",
            status,
        )


@dataclass(frozen=True)
class Answer:
    """A whole answer. The names of `headers` are read without regard to case."""

    status: int
    headers: Message
    body: bytes

    def json(self) -> dict[str, Any]:
        """Return the body as an object. Raises `ConnectionFailedError` if something else answered, such as a portal."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            raise ConnectionFailedError("the answer is not JSON; is this the address of a frepo?") from None
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Connection:
    """The server at `url`, the only one that gets `token`. What is sent is limited to `limit_rate` bytes per second."""

    url: str
    token: str = field(repr=False, default="")
    ca_file: str = ""
    timeout: float = TIMEOUT
    timeout_of_reading: float = TIMEOUT_OF_READING
    limit_rate: int | None = None

    def __post_init__(self) -> None:
        try:
            parts = urllib.parse.urlsplit(self.url)
            is_right = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:  # a bracket without another one, or a port that is no number
            is_right = False
        if not is_right or not _VISIBLE.fullmatch(self.url):
            raise UsageError(
                f"{_without_secrets(self.url)!r} is not the address of a server; write it as https://files.example.org"
            )
        if parts.username or parts.password:
            raise UsageError("the address of the server must not contain a password; use token_file")

    def absolute(self, path: str) -> str:
        """Return the address of a path below the server's; a whole address of this server is returned as it is.

        Raises `RefusedError` for the address of another server: the token must not be sent there.
        """
        base = urllib.parse.urlsplit(self.url)
        if path.startswith("/"):
            # `Location` of a server below a prefix has the prefix already.
            prefix = base.path.rstrip("/")
            path = path if prefix and path.startswith(prefix + "/") else prefix + path
            return urllib.parse.urlunsplit((base.scheme, base.netloc, path, "", ""))
        found = urllib.parse.urlsplit(path)
        if found.netloc != base.netloc:
            raise RefusedError(
                f"the server names an address of another server: {found.netloc}. Its setting app.domain is the host in "
                "its addresses, or let the proxy before it pass on Host",
                502,
            )
        return urllib.parse.urlunsplit((base.scheme, *found[1:]))

    def send(
        self, method: str, path: str, *, body: bytes | BinaryIO | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request once and return the answer, if its status is below 400.

        Raises `ConnectionFailedError`, `TransientAnswerError`, or `RefusedError` with the sentence of the server.
        """
        reads = method in {"GET", "HEAD"}
        timeout = min(self.timeout, self.timeout_of_reading) if reads else self.timeout
        try:
            with self.open(method, path, body=body, headers=headers, timeout=timeout) as answer:
                content = b"" if method == "HEAD" else b"".join(pieces(answer, timeout, most=MOST_OF_AN_ANSWER))
                return Answer(answer.status, answer.headers, content)
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionFailedError(describe_failure(error)) from error

    def open(
        self,
        method: str,
        path: str,
        *,
        body: bytes | BinaryIO | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> http.client.HTTPResponse:
        """Send a request and return the answer, whose body the caller reads by `pieces`. Raises as `send`."""
        address, query = path.split("?", 1) if "?" in path else (path, "")
        url = self.absolute(address) + ("?" + query if query else "")
        sent = self._headers(headers)
        if body and self.limit_rate:
            if isinstance(body, bytes):
                sent["Content-Length"] = str(len(body))
            content: Any = Throttled(body, self.limit_rate)
        else:
            content = body
        request = urllib.request.Request(url, data=content, method=method, headers=sent)
        try:
            found = self._opener.open(request, timeout=self.timeout if timeout is None else timeout)
        except urllib.error.HTTPError as error:
            with error:
                raise _error_of(error, timeout or self.timeout) from None
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionFailedError(f"{describe_failure(error)}{_proxy_of(self.url)}") from error
        except ValueError:  # of a header, which may be the one with the token
            raise UsageError("the address, the token or a header has a character that cannot be sent") from None
        assert isinstance(found, http.client.HTTPResponse)
        return found

    def _headers(self, headers: Mapping[str, str] | None) -> dict[str, str]:
        sent = {"User-Agent": f"frepo-client/{__version__}", "Accept": "application/json", **(headers or {})}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        return sent

    @cached_property
    def _opener(self) -> urllib.request.OpenerDirector:
        """What opens the requests. The certificates of a system are a file of hundreds, which is read once."""
        is_https = urllib.parse.urlsplit(self.url).scheme == "https"
        return urllib.request.build_opener(_NoRedirects(), *timed_handlers(self._certificates() if is_https else None))

    def _certificates(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self.ca_file or None)
        except (OSError, ssl.SSLError) as error:
            raise UsageError(f"ca_file {self.ca_file}: {error}") from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The addresses of `/api/v1` never redirect; a portal or a proxy that does must not get the token."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        return None


def _error_of(error: urllib.error.HTTPError, timeout: float) -> Exception:
    assert isinstance(error.fp, http.client.HTTPResponse)
    try:
        body = b"".join(pieces(error.fp, timeout, most=1 << 16))
    except (OSError, http.client.HTTPException):
        body = b""
    if error.code in {301, 302, 303, 307, 308}:
        to = error.headers.get("Location", "")
        return RefusedError(f"the server redirects to {to}; write that address into the configuration", error.code)
    if error.code == TOO_LARGE and not _problem(body):
        return TooLargeForProxyError(error.code)
    message = f"{sentence(body) or error.reason} (HTTP {error.code})"
    if error.code in TRANSIENT:
        return TransientAnswerError(message, error.code, _seconds(error.headers.get("Retry-After", "")))
    return RefusedError(message, error.code, _problem(body).get("code"), error.headers)


def _proxy_of(url: str) -> str:
    """Return which proxy a request to this address takes, without its password; empty if none."""
    parts = urllib.parse.urlsplit(url)
    proxy = urllib.request.getproxies().get(parts.scheme, "")
    if not proxy or urllib.request.proxy_bypass(parts.hostname or ""):
        return ""
    return f" (through the proxy {_without_secrets(proxy)} of {parts.scheme}_proxy)"


def _without_secrets(url: str) -> str:
    """Return an address without a user, a password and a query: each may be a secret."""
    address, query = url.partition("?")[:2]
    begin, separator, rest = address.partition("://")
    begin, rest = (begin, rest) if separator else ("", begin)
    host, slash, path = rest.partition("/")
    return f"{begin}{separator}{host.rpartition('@')[2]}{slash}{path}{query}"


def _problem(body: bytes) -> dict[str, Any]:
    """Return the problem details (RFC 9457) of an error of the server, an empty object if something else answered."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def sentence(body: bytes) -> str:
    """Return what an error of the server says, such as the `detail` of problem details."""
    found = _problem(body)
    fields = [f"{item.get('field')}: {item.get('message')}" for item in found.get("errors") or [] if "field" in item]
    return "; ".join([str(found.get("detail") or found.get("title") or ""), *fields]).strip("; ")


def _seconds(text: str) -> float | None:
    try:
        return max(0.0, float(text))
    except ValueError:
        return None


def describe_failure(error: BaseException) -> str:
    """Return why no answer, or only a part of it, has arrived."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError):
        return "it did not answer in time"
    if isinstance(reason, ssl.SSLCertVerificationError):
        authority = "ca_file of [server], or --ca-file of enroll, names another authority"
        return f"its certificate is not trusted ({reason.verify_message}); {authority}"
    if isinstance(reason, OSError) and reason.strerror:
        return reason.strerror
    return str(reason) or type(reason).__name__
