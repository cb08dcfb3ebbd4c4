"""The endpoints for operators: greeting, version, health."""

import functools
from datetime import datetime
from importlib.metadata import version
from typing import Any

from pydantic import ConfigDict, Field, RootModel
from pyramid.httpexceptions import HTTPFound
from pyramid.response import Response

from frepo_core.plugins.pages import CONSOLE

from ..base.endpoint import Answer, Endpoint
from ..base.request import FrepoRequest
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
    """Whether storage, database, worker, its essential jobs, and what the plug-ins check, work."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, bool]

    storage: bool
    database: bool
    worker: bool
    jobs: bool


class HealthMessages(Reply):
    """The problems of storage, database, worker and jobs, and those that health checks of plug-ins found."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, list[str]]

    database: list[str]
    storage: list[str]
    worker: list[str]
    jobs: list[str]


class JobHealth(Reply):
    """The last run of a job and the time of the next one, in UTC. `found` is its summary. Null: not yet, or none."""

    started_at: datetime | None
    ended_at: datetime | None
    outcome: str | None
    found: dict[str, Any] | None
    error: str | None
    failing_since: datetime | None
    next_at: datetime | None


class HealthReply(Reply):
    """The state of the service. `jobs` has the last run of each job, by its name."""

    status: HealthStatus
    messages: HealthMessages
    global_status: bool
    ident: list[str]
    jobs: dict[str, JobHealth]


def greet(request: FrepoRequest) -> Answer | Response:
    """Send browsers (`Accept: text/html`) to the web console, or to a page with a link; greet all others in JSON."""
    offers = request.accept.acceptable_offers(["application/json", "text/html"])
    if offers and offers[0][0] == "text/html":
        if any(pages.path == CONSOLE for plugin in request.services.plugins.found for pages in plugin.pages()):
            request.check_host()
            return HTTPFound(location=request.link(f"/{CONSOLE}/"), headers={"Vary": "Accept"})
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
    """Check the database, the storage, the worker and its jobs, and run the health checks of plug-ins."""
    report = request.services.health.report(request.query_as(HealthQuery).code)
    own = {"storage": report.storage, "database": report.database, "worker": report.worker, "jobs": report.jobs}
    messages = {name: list(found) for name, found in {**own, **report.plugins}.items()}
    works = {name: not found for name, found in messages.items()}
    body = HealthReply(
        status=HealthStatus.model_validate(works),
        messages=HealthMessages.model_validate(messages),
        global_status=report.is_healthy,
        ident=[f"{name}={works_now}" for name, works_now in {"global_status": report.is_healthy, **works}.items()],
        jobs={job.name: JobHealth.model_validate(job, from_attributes=True) for job in report.reports},
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
        ignores_token=True,
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
        ignores_token=True,
        query=HealthQuery,
        answers={200: HealthReply, 503: HealthReply},
    ),
]
