"""The document of the second API: its security schemes, its groups of endpoints, and where they are described."""

from collections.abc import Mapping
from importlib.resources import files

from frepo_core.web.base.endpoint import Endpoint
from frepo_core.web.conventions import merge_patch
from frepo_core.web.conventions.problems import Problem
from frepo_core.web.openapi.document import PLUGINS, Api

from .parameters import parameters_of
from .responses import JSON, responses_of

_SECURITY: list[dict[str, list[str]]] = [{"bearer": []}, {"header": []}]
_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer <the token>`."},
    "header": {"type": "apiKey", "in": "header", "name": "X-Auth-Token", "description": "The token."},
}
_HEALTH = ("Health", "What the health checks found, and which stored contents are damaged.")
_INSTALLATION = ("Installation", "What is installed, and the settings in force.")
# The tag of a path is that of its last part with an entry here.
_TAGS: Mapping[str, tuple[str, str]] = {
    "": ("Service", "The service itself."),
    "collections": ("Collections", "Places for the versions of one backup, with limits and a list of tokens."),
    "access": ("Access", "Which tokens may use a collection."),
    "versions": ("Versions", "Numbered versions of a collection, their content and their checks."),
    "files": ("Files", "Plain files: upload, list, download, delete."),
    "tokens": ("Tokens", "Access tokens: roles, restrictions, expiry, rotation."),
    "enrolments": ("Enrolments", "One-time codes with which hosts get their tokens."),
    "events": ("Audit", "What happened: who did what, when and from where."),
    "jobs": ("Jobs", "Periodic work: schedules and runs."),
    "health": _HEALTH,
    "damage": _HEALTH,
    "storages": _INSTALLATION,
    "plugins": _INSTALLATION,
    "settings": _INSTALLATION,
    "aliases": ("Aliases", "Further names of files."),
}


def _tag_of(endpoint: Endpoint) -> str:
    """Return the tag that groups the endpoint in the document."""
    if endpoint.package:
        return PLUGINS[0]
    parts = endpoint.path.replace(":", "/").split("/")
    known = [_TAGS[part][0] for part in parts if part in _TAGS]
    return known[-1]


V1_API = Api(
    title="frepo, API v1",
    guide=files(__package__).joinpath("guide.md").read_text(encoding="utf-8"),
    security=_SECURITY,
    schemes=_SCHEMES,
    tags=dict([*_TAGS.values(), PLUGINS]),
    tag_of=_tag_of,
    error_models=lambda endpoints: {Problem},
    parameters_of=parameters_of,
    responses_of=responses_of,
    body_type=lambda endpoint: merge_patch.MEDIA if endpoint.method == "PATCH" else JSON,
    has_optional_bodies=True,
)
