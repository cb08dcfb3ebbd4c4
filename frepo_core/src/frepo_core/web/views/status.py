"""The endpoints for operators: greeting, version, health."""

import functools
from importlib.metadata import version

from pydantic import Field, RootModel

from ..routing.endpoint import Answer, Endpoint
from ..routing.request import FrepoRequest
from ..schemas.models import Query, Reply


class GreetingReply(Reply):
    """What the service says of itself."""

    message: str


class VersionReply(RootModel[str]):
    """The version of frepo, a JSON text."""


class HealthQuery(Query):
    """The code that monitoring knows."""

    code: str = Field("", max_length=512)


class HealthStatus(Reply):
    """What works."""

    storage: bool
    database: bool


class HealthMessages(Reply):
    """What is wrong."""

    database: list[str]
    storage: list[str]


class HealthReply(Reply):
    """The state of the service."""

    status: HealthStatus
    messages: HealthMessages
    global_status: bool
    ident: list[str]


def greet(request: FrepoRequest) -> Answer:
    """Greet."""
    return Answer(body=GreetingReply(message="Hello, this is frepo. It stores files and versioned backups."))


def tell_version(request: FrepoRequest) -> Answer:
    """Tell the version."""
    return Answer(body=VersionReply(_version()))


@functools.cache
def _version() -> str:
    """Read the version where pip has written it, which takes longer than all else that tells it."""
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
        name="tell_version",
        method="GET",
        path="/version",
        view=tell_version,
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
