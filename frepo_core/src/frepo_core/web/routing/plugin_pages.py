"""Serves the static pages of plug-ins, each below a path of its own, with a strict Content-Security-Policy."""

from collections.abc import Callable, Iterable
from typing import Any

from pyramid.config import Configurator
from pyramid.httpexceptions import HTTPMethodNotAllowed, HTTPMovedPermanently
from pyramid.response import Response
from pyramid.static import static_view

from frepo_core.errors import ConfigurationError
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.plugins.pages import Pages

from .endpoint import Endpoint
from .request import FrepoRequest

# Scripts, styles and requests of this service only, nothing inline, and no other site may show the pages in a frame.
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def add_pages(config: Configurator, found: Iterable[FoundPlugin], endpoints: Iterable[Endpoint]) -> None:
    """Add the routes of all pages. Raises `ConfigurationError` if a path is taken."""
    owners = {_first_part(endpoint.path): "an endpoint" for endpoint in endpoints}
    for plugin in found:
        for pages in plugin.pages():
            if owner := owners.get(pages.path):
                raise ConfigurationError(
                    f"{plugin.origin} declares pages at /{pages.path}/, but this path belongs to {owner}. "
                    "Choose another path in the package."
                )
            owners[pages.path] = plugin.origin
            _add(config, pages)


def _first_part(path: str) -> str:
    return path.strip("/").partition("/")[0]


def _add(config: Configurator, pages: Pages) -> None:
    folder, files = f"pages {pages.path}", f"files of {pages.path}"
    config.add_route(folder, f"/{pages.path}")
    config.add_view(_redirect, route_name=folder)
    config.add_route(files, f"/{pages.path}/*subpath")
    config.add_view(_make_view(pages), route_name=files)


def _redirect(request: FrepoRequest) -> Response:
    """Redirect to the folder, so that relative links in its index work."""
    _check(request)
    return HTTPMovedPermanently(location=f"{request.path}/")


def _make_view(pages: Pages) -> Callable[[Any, FrepoRequest], Response]:
    serve = static_view(str(pages.folder), use_subpath=True)

    def view(context: object, request: FrepoRequest) -> Response:
        _check(request)
        response = serve(context, request)
        response.headers.update(HEADERS)
        if response.last_modified is not None:
            response.etag = f"{response.last_modified.timestamp():.0f}-{response.content_length}"
            response.conditional_response = True
        return response

    return view


def _check(request: FrepoRequest) -> None:
    if request.method not in {"GET", "HEAD"}:
        raise HTTPMethodNotAllowed(headers={"Allow": "GET, HEAD"})
    request.check_host()
