"""Caches the answers to downloads of small public files, until something changes.

Such a download spends most of its time on what was found out for the one before it: route, file and headers.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from pyramid.config import Configurator
from pyramid.response import Response
from pyramid.tweens import EXCVIEW

from ..base.endpoint import Endpoint
from ..base.request import FrepoRequest
from .downloads import DOWNLOADS, OPEN_CACHE

MAX_ANSWERS = 1_000
MAX_KEY = 1_000  # characters
# The headers, by their WSGI names, on which an answer may depend. If-None-Match is a part of the key.
_DECIDING = frozenset(
    {
        *("HTTP_X_AUTH_TOKEN", "HTTP_TOKEN", "HTTP_AUTHORIZATION", "HTTP_X_FILE_PASSWORD"),
        *("HTTP_IF_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_IF_UNMODIFIED_SINCE", "HTTP_IF_RANGE", "HTTP_RANGE"),
    }
)
_PATHS = frozenset(DOWNLOADS.values())
_PREFIXES = tuple(path.removesuffix("{name}") for path in _PATHS)

Handler = Callable[[FrepoRequest], Response]


@dataclass(frozen=True, kw_only=True, slots=True)
class CachedAnswer:
    """The answer without its content, whose digest is None if there is no content."""

    endpoint: Endpoint
    status: str
    headers: tuple[tuple[str, str], ...]
    digest: str | None


def includeme(config: Configurator) -> None:
    """Register the tween, under the exception views, unless each download has to be handled."""
    settings = config.registry.services.settings
    if not (settings.events_downloads or settings.fs_accel_redirect or settings.fs_redirect_downloads):
        config.add_tween("frepo_core.web.views.answer_cache.make_tween", under=EXCVIEW)


def make_tween(handler: Handler, registry: Any) -> Handler:
    """Return a tween that answers from the cache, or else by `handler`."""
    cache = AnswerCache()

    def answer(request: FrepoRequest) -> Response:
        key, downloads = _key(request.environ), request.services.downloads
        version = downloads.version() if key else None
        if version is None:
            return handler(request)
        version = downloads, version
        found = cache.find(version, key)
        content = downloads.cached(found.digest) if found and found.digest else b""
        if found is None or content is None:
            response = handler(request)
            cache.add(version, key, request, response)
            return response
        request.endpoint = found.endpoint
        request.check_host()
        body, headers = [content] if content else (), list(found.headers)
        return Response(status=found.status, headerlist=headers, app_iter=body, conditional_response=False)

    return answer


def _key(environ: Mapping[str, Any]) -> Hashable:
    """Return the key of a request, None if its answer may depend on more."""
    path, tag = environ.get("PATH_INFO", ""), environ.get("HTTP_IF_NONE_MATCH", "")
    if environ["REQUEST_METHOD"] != "GET" or not path.startswith(_PREFIXES) or environ.get("QUERY_STRING"):
        return None
    if not _DECIDING.isdisjoint(environ) or len(path) + len(tag) > MAX_KEY:
        return None
    return path, tag


class AnswerCache:
    """The answers of one version of the service's data."""

    def __init__(self) -> None:
        self._cached: tuple[Hashable, dict[Hashable, CachedAnswer]] = (None, {})

    def find(self, version: Hashable, key: Hashable) -> CachedAnswer | None:
        """Return the answer, or None."""
        cached = self._cached
        return cached[1].get(key) if cached[0] == version else None

    def add(self, version: Hashable, key: Hashable, request: FrepoRequest, response: Response) -> None:
        """Cache an answer if it is small and everybody gets the same.

        `version` was read before the answer was made: if something has changed meanwhile, it is not used.
        """
        has_content = response.status_int == 200
        is_small = isinstance(response.app_iter, list) or not has_content
        if request.endpoint is None or request.endpoint.path not in _PATHS:
            return  # protected URLs, and endpoints and pages of plug-ins, have rules of their own
        if response.status_int not in {200, 304} or not is_small or response.headers["Cache-Control"] != OPEN_CACHE:
            return
        cached = self._cached
        if cached[0] != version or len(cached[1]) >= MAX_ANSWERS:
            cached = self._cached = (version, {})
        # Not `self._cached`: another thread may have replaced it by that of a newer version.
        cached[1][key] = CachedAnswer(
            endpoint=request.endpoint,
            status=response.status,
            headers=tuple(response.headerlist),
            digest=response.headers["ETag"].strip('"') if has_content else None,
        )
