"""Serves the static pages of plug-ins, each below a path of its own, with a strict Content-Security-Policy."""

import base64
import hashlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pyramid.config import Configurator
from pyramid.httpexceptions import HTTPMethodNotAllowed, HTTPMovedPermanently, HTTPNotFound
from pyramid.response import Response
from pyramid.static import static_view

from frepo_core.errors import ConfigurationError
from frepo_core.plugins.discovery import FoundPlugin, join_names
from frepo_core.plugins.pages import Pages

from ..base.endpoint import Endpoint
from ..base.request import FrepoRequest

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
IMMUTABLE = "public, max-age=31536000, immutable"

_STYLE = re.compile(r"\{style ([\w./-]+)\}")

View = Callable[[Any, FrepoRequest], Response]


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
        _check_slots(plugin)


def _check_slots(plugin: FoundPlugin) -> None:
    """Raise `ConfigurationError` if the module of a slot is not a file of the plug-in's pages."""
    folders = {pages.path: Path(pages.folder) for pages in plugin.pages() if not pages.is_versioned}
    for slot in plugin.console_slots:
        path, _, file = slot.module.partition("/")
        if path not in folders or not (folders[path] / file).is_file():
            raise ConfigurationError(
                f"{plugin.origin} declares the slot {slot.name!r} with the module {slot.module!r}, which is not a file "
                f"of its pages that are not versioned. Their paths: {join_names(folders)}."
            )


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
    return HTTPMovedPermanently(location=request.link(f"{request.path}/"))


class _Files(static_view):  # type: ignore[misc]  # Pyramid has no types
    """The files of a folder. Pyramid alone redirects to the host of the request, without the prefix."""

    def add_slash_redirect(self, request: FrepoRequest) -> Response:
        """Redirect to a folder within the folder."""
        return _redirect(request)


def _make_view(pages: Pages) -> View:
    serve = _versioned(pages) if pages.is_versioned else _unversioned(pages)

    def view(context: object, request: FrepoRequest) -> Response:
        _check(request)
        response = serve(context, request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Content-Security-Policy", pages.policy)
        return response

    return view


def _unversioned(pages: Pages) -> View:
    serve = _Files(str(pages.folder), use_subpath=True)

    def view(context: object, request: FrepoRequest) -> Response:
        response = serve(context, request)
        del response.headers["Cache-Control"]
        if response.last_modified is not None:
            response.etag = f"{response.last_modified.timestamp():.0f}-{response.content_length}"
            response.conditional_response = True
        return response

    return view


def _versioned(pages: Pages) -> View:
    """Serve `index.html` at the path of the pages, and all files below the digest of the folder."""
    digest = _digest(Path(pages.folder))
    index, policy = _embed_style(pages, (Path(pages.folder) / "index.html").read_text().replace("{digest}", digest))
    serve = _Files(str(pages.folder), use_subpath=True, content_encodings=("gzip",))

    def view(context: object, request: FrepoRequest) -> Response:
        if not request.subpath:
            response = Response(index, etag=digest, conditional_response=True)
            response.headers["Content-Security-Policy"] = policy
            return response
        if request.subpath[0] != digest or len(request.subpath) == 1:
            raise HTTPNotFound
        request.subpath = request.subpath[1:]
        response = serve(context, request)
        response.headers["Cache-Control"] = IMMUTABLE
        return response

    return view


def _embed_style(pages: Pages, index: str) -> tuple[str, str]:
    """Return the page with its style in it, so that a browser shows it at once, and a policy that allows that style."""
    found = _STYLE.search(index)
    if found is None:
        return index, pages.policy
    style = (Path(pages.folder) / found[1]).read_text()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    directives = [one.strip() for one in pages.policy.split(";")]
    own = next((one for one in directives if one.startswith("style-src ")), "style-src 'self'")
    others = [one for one in directives if one != own]
    page = f"{index[: found.start()]}<style>{style}</style>{index[found.end() :]}"
    return page, "; ".join([*others, f"{own} 'sha256-{digest}'"])


def _digest(folder: Path) -> str:
    """Return a digest of the names and contents of all files in a folder, without their compressed forms."""
    found = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".gz"):
        content = path.read_bytes()
        found.update(f"{path.relative_to(folder).as_posix()}\n{len(content)}\n".encode() + content)
    return found.hexdigest()[:16]


def _check(request: FrepoRequest) -> None:
    if request.method not in {"GET", "HEAD"}:
        raise HTTPMethodNotAllowed(headers={"Allow": "GET, HEAD"})
    request.check_host()
