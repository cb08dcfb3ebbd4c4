"""The endpoints for operators: greeting, version, health."""

import functools
from importlib.metadata import version

from pydantic import Field, RootModel

from ..routing.endpoint import Answer, Endpoint
from ..routing.request import FrepoRequest
from ..schemas.models import Query, Reply


class GreetingReply(Reply):
    """The greeting of the service."""

    message: str


class VersionReply(RootModel[str]):
    """The version of frepo, as a JSON string."""


class HealthQuery(Query):
    """The code of the setting HEALTH_CHECK_CODE."""

    code: str = Field("", max_length=512)


class HealthStatus(Reply):
    """Whether storage and database work."""

    storage: bool
    database: bool


class HealthMessages(Reply):
    """The problems of storage and database."""

    database: list[str]
    storage: list[str]


class HealthReply(Reply):
    """The state of the service."""

    status: HealthStatus
    messages: HealthMessages
    global_status: bool
    ident: list[str]


def greet(request: FrepoRequest) -> Answer:
    """Show a greeting."""
    return Answer(body=GreetingReply(message="Hello, this is frepo. It stores files and versioned backups."))


def show_version(request: FrepoRequest) -> Answer:
    """Show the version of the service."""
    return Answer(body=VersionReply(_version()))


@functools.cache
def _version() -> str:
    """Read the version from the package's metadata once: it is slow."""
    return version("frepo-core")


def check_health(request: FrepoRequest) -> Answer:
    """Look at database and storage."""
    report = request.services.health.report(request.query_as(HealthQuery).code)
    body = HealthReply(
        status=HealthStatus(storage=not report.storage, database=not report.database),
        messages=HealthMessages(database=list(report.database), storage=list(report.storage)),
        global_status=report.is_healthy,
        ident=[
            f"global_status={report.is_healthy}",
            f"storage={not report.storage}",
            f"database={not report.database}",
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
