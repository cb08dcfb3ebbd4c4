"""The document of the second API: its security schemes, its groups of endpoints, and where they are described."""

import html
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files

from frepo_core import errors
from frepo_core.web.base.endpoint import Endpoint
from frepo_core.web.conventions import merge_patch
from frepo_core.web.conventions.problems import TITLES, Problem
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
    "reports": ("Reports", "What was restored, what has arrived, and who has deleted what, for others."),
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


# Errors without a class of their own have the number of their status.
_OF_HTTP = (405, 412, 413, 416, 431, 500, 501)


def error_list() -> str:
    """Return the list as HTML, by number. It needs no scripts."""
    entries = "\n".join(_entry(number, " ".join(texts)) for number, texts in sorted(_entries().items()))
    return f"<section class='errors' id='errors'>\n<h2>Errors</h2>\n<dl>\n{entries}\n</dl>\n</section>"


def _entry(number: int, text: str) -> str:
    explanation = re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text))
    return f"<dt id='error-{number}'>{number}</dt><dd>{explanation}</dd>"


def _entries() -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for kind in _kinds():
        text = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
        found.setdefault(kind.number, []).append(text)
    return found | {status: [f"{TITLES[status]}."] for status in _OF_HTTP}


def _kinds() -> Iterator[type[errors.FrepoError]]:
    """Yield the classes with a number of their own, which are not bases of others."""
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.FrepoError) and isinstance(vars(kind).get("number"), int):
            yield kind
