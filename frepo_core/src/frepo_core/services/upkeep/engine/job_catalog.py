"""The jobs of the service and of its plug-ins, with their schedules."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from frepo_core.domain.schedules.cron import parse_zone
from frepo_core.errors import ConfigurationError
from frepo_core.plugins import Job, PluginContext

from .schedules import Schedule, parse_schedule


@dataclass(frozen=True, kw_only=True)
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
