"""The endpoints of jobs: when they run, what they found, and a run on request."""

from typing import Any

from frepo_core.services.upkeep.engine.job_requests import RequestRecord
from frepo_core.services.upkeep.engine.jobs import JobStatus

from ...base.endpoint import Answer, Endpoint
from ...base.request import V1, FrepoRequest
from ...conventions.paging import PageQuery, PageReply, next_cursor, page_request
from ...conventions.types import Time
from ...schemas.models import Reply

JOBS = f"{V1}/jobs"
RUNS = f"{JOBS}/{{name}}/runs"


class Run(Reply):
    """A run of a job. `outcome` is `good`, `failed`, `interrupted` or `lost`, null while it runs.

    `cause` is `schedule`, or who requested the run. `process` is the process that ran it. A token that may not see all
    collections sees only the numbers of the `summary`, and neither the text of `progress` nor that of `error`.
    """

    id: int
    started_at: Time
    ended_at: Time | None
    outcome: str | None
    cause: str
    process: str
    progress: str | None
    summary: dict[str, Any] | None
    error: str | None

    @classmethod
    def of(cls, record: Any) -> "Run":
        """Convert a run."""
        return cls.model_validate({**vars(record), "process": record.holder})


class RunRequest(Reply):
    """A requested run. The worker that leads begins it within seconds, if no other job of its lane runs."""

    job: str
    requested_at: Time
    requested_by: str

    @classmethod
    def of(cls, record: RequestRecord) -> "RunRequest":
        """Convert a request."""
        return cls(job=record.name, requested_at=record.requested_at, requested_by=record.requested_by)


class Job(Reply):
    """A job. `next_at` is null if its schedule is `off`; `request` is a requested run that has not begun."""

    name: str
    summary: str
    schedule: str
    lane: str
    next_at: Time | None
    request: RunRequest | None
    last_run: Run | None

    @classmethod
    def of(cls, status: JobStatus) -> "Job":
        """Convert a job."""
        return cls(
            name=status.scheduled.name,
            summary=status.scheduled.job.summary,
            schedule=str(status.scheduled.schedule),
            lane=status.scheduled.job.lane,
            next_at=status.next_at,
            request=RunRequest.of(status.request) if status.request else None,
            last_run=Run.of(status.last_run) if status.last_run else None,
        )


class JobPage(PageReply[Job]):
    """All jobs, by name. They are always one page."""


class RunPage(PageReply[Run]):
    """A page of runs, the latest first."""


def list_jobs(request: FrepoRequest) -> Answer:
    """List the jobs with their schedules and their latest runs."""
    found = request.services.jobs.statuses(by=request.sender)
    return Answer(body=JobPage(items=[Job.of(one) for one in found], next=None))


def list_runs(request: FrepoRequest) -> Answer:
    """List the runs of a job, the latest first."""
    query = request.query_as(PageQuery)
    page = request.services.jobs.run_page(request.matchdict["name"], page_request(query), by=request.sender)
    return Answer(body=RunPage(items=[Run.of(one) for one in page.items], next=next_cursor(query, page)))


def request_run(request: FrepoRequest) -> Answer:
    """Request a run of a job now, also of one that is off. Its schedule does not change."""
    record = request.services.jobs.request(request.matchdict["name"], by=request.sender)
    return Answer(status=202, body=RunRequest.of(record))


ENDPOINTS = [
    Endpoint(
        name="list_jobs",
        method="GET",
        path=JOBS,
        view=list_jobs,
        summary="List jobs",
        permission="jobs.view",
        answers={200: JobPage},
    ),
    Endpoint(
        name="list_job_runs",
        method="GET",
        path=RUNS,
        view=list_runs,
        summary="List the runs of a job",
        permission="jobs.view",
        query=PageQuery,
        answers={200: RunPage},
    ),
    Endpoint(
        name="request_job_run",
        method="POST",
        path=RUNS,
        view=request_run,
        summary="Run a job now",
        permission="jobs.run",
        writes=True,
        answers={202: RunRequest},
    ),
]
