"""The models of the runs of backup jobs that clients report."""

from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, WithJsonSchema

from frepo_core.domain.backups.runs import NewRun, RunOutcome
from frepo_core.services.backups.runs.run_records import RunRecord

from ...conventions.paging import PageQuery
from ...conventions.types import Moment, Time
from ...schemas import json_schemas
from ...schemas.models import Form, Reply, int_if_whole

_Name = Annotated[str, Field(max_length=255, pattern="^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
_ExitStatus = Annotated[int, Field(ge=-(2**31), le=2**32, strict=True), BeforeValidator(int_if_whole)]
_Number = Annotated[int, Field(ge=1, le=10**18 - 1, strict=True), BeforeValidator(int_if_whole)]
_Seconds = Annotated[float, Field(ge=0, le=10**8, strict=True)]
_Output = Annotated[str, WithJsonSchema({"type": "string", "pattern": "^[\\s\\S]*$"})]


class NewBackupRun(Form):
    """A run of a backup job. `started_at` is by the clock of the client; `seconds` is how long the job ran.

    `exit_statuses` are those of all stages of a pipe. Of `error_output`, the last 8 KiB are kept, without control
    characters. `host` and `client` say where and by which program the job ran. `version` (its number) or `sha256` name
    what the run has stored, if anything. With `stored_nothing`, a failed run condemns no version.
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

    def run(self) -> NewRun:
        """Convert the run for the service."""
        values = dict(self)
        return NewRun(**values | {"seconds": None if self.seconds is None else round(self.seconds)})


class BackupRun(Reply):
    """A run of a backup job, which its client reported `at` that time.

    `reason` is why it failed: the first line of its output with an error, else the last one, or its exit statuses.
    `version` is the number of the version that the run is about, null if the client that reports it has sent none.
    `seconds` are whole.
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

    @classmethod
    def of(cls, record: RunRecord) -> "BackupRun":
        """Convert a run."""
        return cls.model_validate({**vars(record), "version": record.version_number})


class BackupRunPage(Reply):
    """A page of runs, the newest first."""

    items: list[BackupRun]
    next: str | None


class BackupRunQuery(PageQuery):
    """Which runs."""

    outcome: list[RunOutcome] = Field([], max_length=3, description="Only runs with this outcome. May be repeated.")
