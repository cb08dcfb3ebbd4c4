"""The jobs of the service and of its plug-ins, with their schedules."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import UTC, datetime, timedelta, tzinfo

from frepo_core.domain.durations import parse_duration
from frepo_core.domain.schedules.cron import check_cron, next_time, parse_zone
from frepo_core.domain.structs import struct
from frepo_core.errors import ConfigurationError
from frepo_core.plugins import Job, PluginContext

OFF = "off"
_EVERY = "every "
_EXAMPLES = "write cron such as `15 2 * * *`, an interval such as `every 1h`, or `off`"


@struct
class Schedule:
    """When a job is due. `text` names it in messages and in the database.

    Cron is read in `zone`, with the rules of Debian's cron for the days on which the clock is changed. `interval` is
    None for cron and for `off`.
    """

    text: str
    zone: tzinfo = field(default=UTC)
    interval: timedelta | None = None

    def after(self, moment: datetime) -> datetime | None:
        """Return the first time after `moment` (aware) at which the job is due, in UTC; None if it is off."""
        if self.interval is not None:
            return (moment + self.interval).astimezone(UTC)
        if self.text == OFF:
            return None
        return next_time(self.text, self.zone, moment)

    def latest_after(self, moment: datetime) -> datetime | None:
        """Return the second time after `moment` at which the job is due.

        A job that is due later than that has been scheduled by a clock that was fast.
        """
        following = self.after(moment)
        return self.after(following) if following else None

    def __str__(self) -> str:
        return self.text if self.zone is UTC else f"{self.text} {self.zone}"


def parse_schedule(text: str, zone: tzinfo = UTC) -> Schedule:
    """Parse the text of a schedule. Raises `ValueError` with a message for the user."""
    text = " ".join(text.split())
    if text.lower() == OFF:
        return Schedule(text=OFF)
    if text.lower().startswith(_EVERY):
        return Schedule(text=text.lower(), interval=_parse_interval(text[len(_EVERY) :]))
    try:
        check_cron(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a schedule ({error}): {_EXAMPLES}") from None
    return Schedule(text=text, zone=zone)


def _parse_interval(text: str) -> timedelta:
    interval = parse_duration(text)
    if interval < timedelta(seconds=1):
        raise ValueError(f"the interval {text!r} is too short: write at least 1s")
    return interval


@struct
class ScheduledJob:
    """A job with its schedule, and the context of the plug-in that provides it."""

    job: Job
    schedule: Schedule
    context: PluginContext

    @property
    def name(self) -> str:
        """The name of the job."""
        return self.job.name


def schedule_jobs(
    jobs: Iterable[tuple[Job, PluginContext]], schedules: Mapping[str, str], timezone: str
) -> dict[str, ScheduledJob]:
    """Return the jobs by name, each with the schedule of the setting `jobs.<name>`, else with its own.

    Raises `ConfigurationError` for a schedule or a time zone that is not valid.
    """
    try:
        zone = parse_zone(timezone)
    except ValueError as error:
        raise ConfigurationError(f"Setting jobs.timezone (JOBS_TIMEZONE): {error}") from None
    found = {}
    for job, context in jobs:
        try:
            schedule = parse_schedule(schedules.get(job.name) or job.schedule, zone)
        except ValueError as error:
            raise ConfigurationError(f"Setting jobs.{job.name} (JOBS_{job.name.upper()}): {error}") from None
        found[job.name] = ScheduledJob(job=job, schedule=schedule, context=context)
    return found
