"""Caches the answers to downloads of small public files, until something changes.

Such a download spends most of its time on what was found out for the one before it: file and headers. With the cache,
it is about 1.5 times as fast.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyramid.response import Response

from frepo_core.settings import Settings

from ..base.context import Context
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

View: TypeAlias = Callable[[Context, FrepoRequest], Response]
Decorator: TypeAlias = Callable[[View], View]


@dataclass(frozen=True, kw_only=True, slots=True)
class CachedAnswer:
    """The answer without its content, whose digest is None if there is no content."""

    status: str
    headers: tuple[tuple[str, str], ...]
    digest: str | None


class PlainResponse(Response):  # type: ignore[misc]  # Pyramid has no types
    """An answer to GET whose headers need no change. WebOb alone looks for a Location in each of them."""

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., object]) -> Iterable[bytes]:
        """Answer the request."""
        start_response(self.status, self.headerlist)
        body: Iterable[bytes] = self.app_iter
        return body


def make_decorators(settings: Settings) -> dict[str, Decorator]:
    """Return the decorator of the view of each path that is cached: of none, if each download has to be handled."""
    if settings.events_downloads or settings.fs_accel_redirect or settings.fs_redirect_downloads:
        return {}
    return dict.fromkeys(DOWNLOADS.values(), AnswerCache().decorate)


class AnswerCache:
    """The answers of one version of the service's data."""

    def __init__(self) -> None:
        self._cached: tuple[Hashable, dict[Hashable, CachedAnswer]] = (None, {})

    def decorate(self, view: View) -> View:
        """Return a view that answers from the cache, or else by `view`."""

        def answer(context: Context, request: FrepoRequest) -> Response:
            key, downloads = _key(request.environ), request.services.downloads
            version = downloads.version() if key else None
            if version is None:
                return view(context, request)
            version = downloads, version
            found = self.find(version, key)
            content = request.services.stored_content.cached(found.digest) if found and found.digest else b""
            if found is None or content is None:
                response = view(context, request)
                self.add(version, key, response)
                return response
            body, headers = [content] if content else (), list(found.headers)
            return PlainResponse(status=found.status, headerlist=headers, app_iter=body, conditional_response=False)

        return answer

    def find(self, version: Hashable, key: Hashable) -> CachedAnswer | None:
        """Return the answer, or None."""
        cached = self._cached
        return cached[1].get(key) if cached[0] == version else None

    def add(self, version: Hashable, key: Hashable, response: Response) -> None:
        """Cache an answer if it is small and everybody gets the same.

        `version` was read before the answer was made: if something has changed meanwhile, it is not used.
        """
        has_content = response.status_int == 200
        is_small = isinstance(response.app_iter, list) or not has_content
        if response.status_int not in {200, 304} or not is_small or response.headers["Cache-Control"] != OPEN_CACHE:
            return
        cached = self._cached
        if cached[0] != version or len(cached[1]) >= MAX_ANSWERS:
            cached = self._cached = (version, {})
        # Not `self._cached`: another thread may have replaced it by that of a newer version.
        cached[1][key] = CachedAnswer(
            status=response.status,
            headers=tuple(response.headerlist),
            digest=response.headers["ETag"].strip('"') if has_content else None,
        )


def _key(environ: Mapping[str, Any]) -> Hashable:
    """Return the key of a request, None if its answer may depend on more."""
    path, tag = environ.get("PATH_INFO", ""), environ.get("HTTP_IF_NONE_MATCH", "")
    if environ["REQUEST_METHOD"] != "GET" or environ.get("QUERY_STRING"):
        return None
    if not _DECIDING.isdisjoint(environ) or len(path) + len(tag) > MAX_KEY:
        return None
    return path, tag
