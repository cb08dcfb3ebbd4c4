"""The endpoints of the runs of a collection's backup job, as its clients report them."""

from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, WithJsonSchema

from frepo_core.domain.backups.runs import NewRun, RunOutcome
from frepo_core.services.backups.runs.run_records import RunRecord

from ...base.endpoint import Answer, Endpoint
from ...base.request import FrepoRequest
from ...conventions.answers import created
from ...conventions.paging import PageQuery, PageReply, next_cursor, page_request
from ...conventions.types import Moment, Time
from ...schemas import json_schemas
from ...schemas.models import Form, Reply, int_if_whole
from .collections import COLLECTION, COLLECTIONS

RUNS = f"{COLLECTION}/runs"


_Name = Annotated[str, Field(max_length=255, pattern="^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
_ExitStatus = Annotated[int, Field(ge=-(2**31), le=2**32, strict=True), BeforeValidator(int_if_whole)]
_Number = Annotated[int, Field(ge=1, le=10**18 - 1, strict=True), BeforeValidator(int_if_whole)]
_Measure = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
_Measured = Annotated[float, Field(ge=-(2**63), le=2**63)]
_Seconds = Annotated[float, Field(ge=0, le=10**8, strict=True)]
_Output = Annotated[str, WithJsonSchema({"type": "string", "pattern": "^[\\s\\S]*$"})]


class NewBackupRun(Form):
    """A run of a backup job. `started_at` is by the clock of the client; `seconds` is how long the job ran.

    `exit_statuses` are those of all stages of a pipe. Of `error_output`, the last 8 KiB are kept, without control
    characters. `host` and `client` say where and by which program the job ran. `version` (its number) or `sha256` name
    what the run has stored, if anything. With `stored_nothing`, a failed run condemns no version. `measured` are
    numbers of the source when the backup was made, by the names of assertions; times are seconds since 1970.
    """

    # A program may write anything, and its failure has to be heard.
    free_texts: ClassVar[frozenset[str]] = frozenset({"error_output"})

    outcome: RunOutcome
    started_at: Moment | None = None
    seconds: _Seconds | None = Field(None, examples=[252.4])
    exit_statuses: list[_ExitStatus] = Field(default_factory=list, max_length=32, examples=[[1, 0]])
    error_output: _Output = ""
    host: _Name = Field("", examples=["db1.example.org"])
    client: _Name = Field("", examples=["curl"])
    version: _Number | None = None
    sha256: str | None = Field(None, pattern=json_schemas.SHA256)
    stored_nothing: bool = Field(default=False, strict=True)
    measured: dict[_Measure, _Measured] = Field(default_factory=dict, max_length=50, examples=[{"rows": 1000}])

    def run(self) -> NewRun:
        """Convert the run for the service."""
        values = dict(self)
        return NewRun(**values | {"seconds": None if self.seconds is None else round(self.seconds)})


class BackupRun(Reply):
    """A run of a backup job, which its client reported `at` that time.

    `reason` is why it failed: the first line of its output with an error, else the last one, or its exit statuses.
    `version` is the number of the version that the run is about, null if the client that reports it has sent none.
    `seconds` are whole. `measured` are the numbers of the source that it has sent.
    """

    id: int
    at: Time
    outcome: RunOutcome
    reason: str
    started_at: Time | None
    seconds: int | None
    exit_statuses: list[int]
    error_output: str
    host: str
    client: str
    version: int | None
    sha256: str | None
    actor: str
    measured: dict[str, float]

    @classmethod
    def of(cls, record: RunRecord) -> "BackupRun":
        """Convert a run."""
        values = {"version": record.version_number, "measured": record.measured or {}}
        return cls.model_validate({**vars(record), **values})


class BackupRunPage(PageReply[BackupRun]):
    """A page of runs, the newest first."""


class BackupRunQuery(PageQuery):
    """Which runs."""

    outcome: list[RunOutcome] = Field([], max_length=3, description="Only runs with this outcome. May be repeated.")


def list_runs(request: FrepoRequest) -> Answer:
    """List the runs of the backup job, the newest first."""
    query = request.query_as(BackupRunQuery)
    page = request.services.runs.page(request.collection.id, page_request(query), query.outcome)
    return Answer(body=BackupRunPage(items=[BackupRun.of(one) for one in page.items], next=next_cursor(query, page)))


def report_run(request: FrepoRequest) -> Answer:
    """Report a run of the backup job: what the service cannot see, such as the exit status of a dump.

    After a failed run, the state of the collection is `failed`, until the next good version.
    """
    run = request.body_as(NewBackupRun).run()
    body = BackupRun.of(request.services.run_reports.record(request.collection.id, run, by=request.sender))
    return created(request, f"{COLLECTIONS}/{request.collection.id}/runs", body)


ENDPOINTS = [
    Endpoint(
        name="list_backup_runs",
        method="GET",
        path=RUNS,
        view=list_runs,
        summary="List the runs of the backup job",
        permission="version.list",
        query=BackupRunQuery,
        answers={200: BackupRunPage},
    ),
    Endpoint(
        name="report_backup_run",
        method="POST",
        path=RUNS,
        view=report_run,
        summary="Report a run of the backup job",
        permission="version.upload",
        body=NewBackupRun,
        writes=True,
        answers={201: BackupRun},
    ),
]
