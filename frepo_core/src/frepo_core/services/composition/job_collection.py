"""Collects the jobs of the service and of its plug-ins, with their schedules."""

from frepo_core.errors import ConfigurationError
from frepo_core.plugins.discovery import describe_core
from frepo_core.plugins.registry import make_contexts
from frepo_core.settings import Settings, load_job_schedules

from ..foundation import Foundation
from ..upkeep.engine.job_catalog import ScheduledJob, schedule_jobs


def collect_jobs(base: Foundation, core: object) -> dict[str, ScheduledJob]:
    """Return all jobs by their names. `core` is the plug-in with the built-in ones.

    Raises `ConfigurationError` for a schedule that is not valid, and for a job of a plug-in with the name of an own
    one.
    """
    plugins = base.plugins
    own = describe_core(core)
    (context,) = make_contexts([own], {}, base.facade_of).values()
    jobs = {job.name: (job, context) for job in own.configured(context).jobs}
    for name, owned in plugins.jobs.items():
        if name in jobs or f"jobs_{name}" in Settings.model_fields:
            raise ConfigurationError(f"{owned.plugin.origin} names a job {name!r}, a name that frepo uses. Rename it.")
        jobs[name] = (owned.spec, base.contexts[owned.plugin.name])
    may_be_unknown = bool(base.settings.plugins_disabled)
    schedules = load_job_schedules(jobs, base.ini, base.environment, may_be_unknown=may_be_unknown)
    return schedule_jobs(jobs.values(), schedules, base.settings.jobs_timezone)
