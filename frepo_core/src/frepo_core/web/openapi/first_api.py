"""The document of the first API: its security schemes, its groups of endpoints, and where they are described."""

from importlib.resources import files

from ..base.endpoint import Endpoint
from .document import PLUGINS, Api
from .error_models import ErrorReply, error_model
from .parameters import parameters_of
from .responses import JSON, responses_of

_SECURITY: list[dict[str, list[str]]] = [{"header": []}, {"bearer": []}, {"query": []}]
_SCHEMES = {
    "header": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Auth-Token",
        "description": "The token's id; the header `token` is read as well.",
    },
    "bearer": {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer <the token's id>`."},
    "query": {
        "type": "apiKey",
        "in": "query",
        "name": "_token",
        "description": "The token's id. It wins over the headers, even when it is empty.",
    },
}
_TAGS = {
    "Files": "Plain files: upload, list, download, delete.",
    "Collections": "Places for the versions of one backup, with limits and a list of tokens.",
    "Versions": "Numbered versions in a collection. `backup` and `version` in these paths are the same.",
    "Tokens": "Access tokens: their roles, restrictions and expiry.",
    "Service": "The service itself.",
    **dict([PLUGINS]),
}


def _tag_of(endpoint: Endpoint) -> str:
    """Return the tag that groups the endpoint in the document."""
    path = endpoint.path
    if endpoint.package:
        return PLUGINS[0]
    if path.startswith("/repository/collection/{collection}/") and "/token" not in path:
        return "Versions"
    if path.startswith("/repository/collection"):
        return "Collections"
    if path.startswith(("/auth/token", "/auth/roles", "/jobs/token")):
        return "Tokens"
    if path in {"/", "/version", "/health", "/api/doc", "/api/doc.json", "/repository/routing/map"}:
        return "Service"
    return "Files"


FIRST_API = Api(
    title="frepo",
    guide=files(__package__).joinpath("guide.md").read_text(encoding="utf-8"),
    security=_SECURITY,
    schemes=_SCHEMES,
    tags=_TAGS,
    tag_of=_tag_of,
    error_models=lambda endpoints: {ErrorReply, *map(error_model, endpoints)},
    parameters_of=parameters_of,
    responses_of=responses_of,
    body_type=lambda endpoint: JSON,
    has_optional_bodies=False,
)
