"""The services over one database."""

from functools import cached_property
from typing import TYPE_CHECKING

from frepo_core.domain.structs import struct

from .core_services import CoreServices
from .features import on_demand

if TYPE_CHECKING:
    from ..upkeep.engine.job_catalog import ScheduledJob
    from ..upkeep.engine.jobs import Jobs
    from ..upkeep.engine.worker import Worker
    from .service_time import ServiceTime


@struct
class Services(CoreServices):
    """All services that the web API and `frepo` call. `assemble` makes them."""

    def build_all(self) -> None:
        """Build the services, as a process that serves does at its start: mistakes in the settings show then.

        Those of features that are `on_demand` are built when somebody asks for them.

        Raises `ConfigurationError`.
        """
        built = [self.feature(feature.services) for feature in self.features if feature.services]
        for services in (self, *built):
            for part in type(services).mro():
                for name, service in vars(part).items():
                    if isinstance(service, cached_property) and not isinstance(service, on_demand):
                        getattr(services, name)

    @cached_property
    def scheduled_jobs(self) -> "dict[str, ScheduledJob]":
        from .builtin_jobs import collect_jobs

        return collect_jobs(self)

    @cached_property
    def jobs(self) -> "Jobs":
        from ..base.lease import LeaseTerms
        from ..upkeep.engine.jobs import Jobs

        terms = LeaseTerms(length=self.settings.worker_lease)
        return Jobs(self.database, self.scheduled_jobs, mask=self.mask, terms=terms)

    @cached_property
    def worker(self) -> "Worker":
        from ..base.lease import LeaseTerms
        from ..upkeep.engine.worker import Worker

        subscribers = {
            name: (owned.spec, self.contexts[owned.plugin.name]) for name, owned in self.plugins.subscribers.items()
        }
        terms = LeaseTerms(length=self.settings.worker_lease)
        return Worker(self.database, jobs=self.scheduled_jobs, subscribers=subscribers, mask=self.mask, terms=terms)

    @cached_property
    def service_time(self) -> "ServiceTime":
        from ..access.token_last_use import UseRecorder
        from ..content.storages.storage_watch import StorageWatch
        from .service_time import ServiceTime

        is_read_only = self.settings.read_only
        watches = [
            StorageWatch(self.database, self.backends, self.presence, self.storage_states, storage=name)
            for name in self.backends.configured
        ]
        return ServiceTime(
            self.plugins,
            self.contexts,
            self.backends,
            UseRecorder(self.token_uses),
            self.worker if self.settings.worker_in_process and not is_read_only else None,
            [] if is_read_only else watches,
        )
