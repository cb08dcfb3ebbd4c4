"""The endpoint of the health checks, for people. Monitoring uses `/health`."""

from ...base.endpoint import Answer, Endpoint
from ...base.request import V1, FrepoRequest
from ...schemas.models import Reply


class HealthCheck(Reply):
    """A health check. `problems` are texts for people, empty if the check is good."""

    name: str
    good: bool
    problems: list[str]


class Health(Reply):
    """What the health checks found: those of the service, and those of plug-ins."""

    good: bool
    checks: list[HealthCheck]


def show_health(request: FrepoRequest) -> Answer:
    """Run the health checks. The answer is 200 also if they found problems; `GET /health` answers 503 then."""
    found = request.services.health.run_for(request.sender)
    checks = [HealthCheck(name=name, good=not texts, problems=list(texts)) for name, texts in found.items()]
    return Answer(body=Health(good=all(check.good for check in checks), checks=checks))


ENDPOINTS = [
    Endpoint(
        name="show_health",
        method="GET",
        path=f"{V1}/health",
        view=show_health,
        summary="Run the health checks",
        permission="jobs.view",
        answers={200: Health},
    ),
]
