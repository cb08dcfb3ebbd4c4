"""Builds the jobs and the worker from the settings and the plug-ins."""

from collections.abc import Mapping

from frepo_core.errors import ConfigurationError
from frepo_core.plugins.discovery import describe_core
from frepo_core.plugins.registry import make_contexts
from frepo_core.settings import Settings, load_job_schedules

from ..base.lease import LeaseTerms
from ..foundation import Foundation
from ..upkeep.engine.job_catalog import schedule_jobs
from ..upkeep.engine.jobs import Jobs
from ..upkeep.engine.worker import Worker


def build_worker(
    base: Foundation, *, core: object, ini: Mapping[str, str], environment: Mapping[str, str]
) -> tuple[Jobs, Worker]:
    """Return the jobs and the worker of this process, not started. `core` is the plug-in with the built-in jobs.

    Raises `ConfigurationError` for a schedule that is not valid, and for a job of a plug-in with the name of an own
    one.
    """
    settings, plugins, contexts = base.settings, base.plugins, base.contexts
    own = describe_core(core)
    (context,) = make_contexts([own], {}, base.facade).values()
    jobs = {job.name: (job, context) for job in own.configured(context).jobs}
    for name, owned in plugins.jobs.items():
        if name in jobs or f"jobs_{name}" in Settings.model_fields:
            raise ConfigurationError(f"{owned.plugin.origin} names a job {name!r}, a name that frepo uses. Rename it.")
        jobs[name] = (owned.spec, contexts[owned.plugin.name])
    schedules = load_job_schedules(jobs, ini, environment, may_be_unknown=bool(settings.plugins_disabled))
    scheduled = schedule_jobs(jobs.values(), schedules, settings.jobs_timezone)
    subscribers = {name: (owned.spec, contexts[owned.plugin.name]) for name, owned in plugins.subscribers.items()}
    terms = LeaseTerms(length=settings.worker_lease)
    worker = Worker(base.database, jobs=scheduled, subscribers=subscribers, mask=base.mask, terms=terms)
    return Jobs(base.database, scheduled, mask=base.mask, terms=terms), worker
