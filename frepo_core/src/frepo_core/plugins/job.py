"""The job contract: periodic work, run by the worker that leads."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

from .context import PluginContext
from .settings import require_callable

Lane: TypeAlias = Literal["short", "medium", "long", "mirror", "compact"]


class LeaseLost(Exception):  # the contract's name
    """Another worker leads now. A job must not catch it."""


@dataclass(frozen=True, kw_only=True)
class JobContext(PluginContext):
    """The context of one run of a job.

    - `now`: the time of the start in UTC (aware).
    - `check_lease`: raises `LeaseLost` if another worker leads. Call it before each step that changes something.
    - `progress`: takes a text about how far the job is, for the log and for `frepo jobs`.
    """

    now: datetime
    check_lease: Callable[[], None]
    progress: Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Job:
    """Periodic work.

    - `name`: unique among all jobs. The setting `jobs.<name>` overrides the schedule.
    - `schedule`: cron (`15 2 * * *`), `every 1h`, or `off`. A job that was due while no worker ran is run once.
    - `run`: does the work and returns a summary, which is stored as JSON. An exception is recorded; the job is run
      again at its next time.
    - `lane`: `short` for seconds, `medium` for minutes, and for work that must not wait for days, `long` for hours and
      more. `mirror` is that of the job which makes second copies. One job of each lane runs at a time.
    - `summary`: one line about what the job does.
    """

    name: str
    schedule: str
    run: Callable[[JobContext], Mapping[str, Any]]
    lane: Lane = "short"
    summary: str = ""

    def __post_init__(self) -> None:
        """Check the values that Python does not. Raises `TypeError` or `ValueError`."""
        require_callable("run", self.run)
        if self.lane not in get_args(Lane):
            raise ValueError(f"lane is {self.lane!r}; write one of {', '.join(get_args(Lane))}")
        if not isinstance(self.schedule, str) or not self.schedule:
            raise ValueError(f"schedule is {self.schedule!r}; write cron, such as '15 2 * * *', 'every 1h', or 'off'")
