"""Serves the page of an OpenAPI document, and the scripts and style sheets that it loads from this service."""

import gzip
import hashlib
import html
from functools import cached_property
from pathlib import Path

from pyramid.config import Configurator
from pyramid.httpexceptions import HTTPNotFound
from pyramid.response import Response

from ..base.request import FrepoRequest

FOLDER = Path(__file__).parent
TYPES = {".js": "text/javascript", ".css": "text/css"}
# Nothing inline, and nothing from another host. Requests of "try it" go to this service only.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
IMMUTABLE = "public, max-age=31536000, immutable"
PATH = "/api/viewer"


class Viewer:
    """The files of the viewer, in memory: they are read, and compressed for HTTP, when they are needed first."""

    @cached_property
    def files(self) -> dict[str, tuple[bytes, bytes]]:
        """The content of each file by name, plain and compressed (RFC 1952)."""
        paths = [path for path in sorted(FOLDER.iterdir()) if path.suffix in TYPES]
        contents = {path.name: path.read_bytes() for path in paths}
        return {name: (content, gzip.compress(content, mtime=0)) for name, content in contents.items()}

    @cached_property
    def digest(self) -> str:
        """A digest of all files. It is in their path, so that browsers may keep them for ever."""
        found = hashlib.sha256()
        for name, (content, _) in self.files.items():
            found.update(name.encode() + b"\n" + hashlib.sha256(content).digest())
        return found.hexdigest()[:16]

    def page(self, title: str, document: str, folder: str, appendix: str = "") -> str:
        """Return the page. `document` and `folder` (of the files) are relative URLs; `appendix` is HTML."""
        template = FOLDER.joinpath("page.html").read_text(encoding="utf-8")
        values = {"title": title, "document": document, "files": f"{folder}/{self.digest}"}
        for name, value in values.items():
            template = template.replace(f"{{{name}}}", html.escape(value))
        return template.replace("{appendix}", appendix)


VIEWER = Viewer()


def send_file(request: FrepoRequest) -> Response:
    """Return a file of the viewer. Raises `HTTPNotFound`, also for files of another version."""
    found = VIEWER.files.get(request.matchdict["file"])
    if found is None or request.matchdict["digest"] != VIEWER.digest:
        raise HTTPNotFound
    is_compressed = bool(request.accept_encoding.acceptable_offers(["gzip"]))
    headers = [
        ("Content-Type", f"{TYPES[Path(request.matchdict['file']).suffix]}; charset=utf-8"),
        ("Cache-Control", IMMUTABLE),
        ("Vary", "Accept-Encoding"),
        ("X-Content-Type-Options", "nosniff"),
    ]
    headers += [("Content-Encoding", "gzip")] if is_compressed else []
    return Response(found[is_compressed], headerlist=headers)


def includeme(config: Configurator) -> None:
    """Add the route of the files that the page loads."""
    config.add_route("viewer", f"{PATH}/{{digest}}/{{file}}", request_method=("GET", "HEAD"))
    config.add_view(send_file, route_name="viewer")
