"""The endpoints for operators: greeting, version, health."""

import functools
from importlib.metadata import version

from pydantic import ConfigDict, Field, RootModel
from pyramid.response import Response

from ..routing.endpoint import Answer, Endpoint
from ..routing.request import FrepoRequest
from ..schemas.models import Query, Reply

DOCUMENTATION = "/api/doc"
_GREETING = "Hello, this is frepo. It stores files and versioned backups."
_GREETING_PAGE = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>frepo</title></head>
<body><h1>frepo</h1><p>{_GREETING}</p><p><a href="{DOCUMENTATION}">Documentation of the API</a></p></body></html>
"""


class GreetingReply(Reply):
    """The greeting of the service, with the path of the API's documentation."""

    message: str
    documentation: str


class VersionReply(RootModel[str]):
    """The version of frepo, as a JSON string."""


class HealthQuery(Query):
    """The code of the setting HEALTH_CHECK_CODE."""

    code: str = Field("", max_length=512)


class HealthStatus(Reply):
    """Whether storage, database, and what the plug-ins check, work."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, bool]

    storage: bool
    database: bool


class HealthMessages(Reply):
    """The problems of storage and database, and those that health checks of plug-ins found."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, list[str]]

    database: list[str]
    storage: list[str]


class HealthReply(Reply):
    """The state of the service."""

    status: HealthStatus
    messages: HealthMessages
    global_status: bool
    ident: list[str]


def greet(request: FrepoRequest) -> Answer | Response:
    """Show a greeting: a page with a link for browsers (`Accept: text/html`), JSON for all others."""
    offers = request.accept.acceptable_offers(["application/json", "text/html"])
    if offers and offers[0][0] == "text/html":
        page = Response(_GREETING_PAGE)  # text/html
        page.headers.update({"Vary": "Accept", "Content-Security-Policy": "default-src 'none'"})
        return page
    body = GreetingReply(message=_GREETING, documentation=DOCUMENTATION)
    return Answer(body=body, headers={"Vary": "Accept"})


def show_version(request: FrepoRequest) -> Answer:
    """Show the version of the service."""
    return Answer(body=VersionReply(_version()))


@functools.cache
def _version() -> str:
    """Read the version from the package's metadata once: it is slow."""
    return version("frepo-core")


def check_health(request: FrepoRequest) -> Answer:
    """Check the database and the storage, and run the health checks of plug-ins."""
    report = request.services.health.report(request.query_as(HealthQuery).code)
    works = {name: not messages for name, messages in report.plugins.items()}
    messages = {name: list(messages) for name, messages in report.plugins.items()}
    body = HealthReply(
        status=HealthStatus(storage=not report.storage, database=not report.database, **works),
        messages=HealthMessages(database=list(report.database), storage=list(report.storage), **messages),
        global_status=report.is_healthy,
        ident=[
            f"global_status={report.is_healthy}",
            f"storage={not report.storage}",
            f"database={not report.database}",
            *(f"{name}={is_working}" for name, is_working in works.items()),
        ],
    )
    return Answer(status=200 if report.is_healthy else 503, body=body)


ENDPOINTS = [
    Endpoint(
        name="greet",
        method="GET",
        path="/",
        view=greet,
        summary="Greeting",
        permission=None,
        answers={200: GreetingReply},
    ),
    Endpoint(
        name="show_version",
        method="GET",
        path="/version",
        view=show_version,
        summary="Version of the service",
        permission="token",
        answers={200: VersionReply},
    ),
    Endpoint(
        name="check_health",
        method="GET",
        path="/health",
        view=check_health,
        summary="Health of the service",
        permission=None,
        query=HealthQuery,
        answers={200: HealthReply, 503: HealthReply},
    ),
]
