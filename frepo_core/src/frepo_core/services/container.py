"""All services over one database."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Engine

from frepo_core.plugins import PluginRegistry, RequestObserver

from .access.token_uses import UseRecorder
from .assembly.access_services import AccessServices, build_access
from .assembly.collection_services import CollectionServices, build_collections
from .assembly.file_services import FileServices, build_files
from .assembly.foundation import Foundation, make_foundation
from .assembly.trash_services import TrashServices, build_trash
from .events.audit import Audit
from .health import Health
from .inventory.inventory import Inventory
from .inventory.settings_in_force import SettingsInForce
from .jobs.assembly import build_worker
from .jobs.jobs import Jobs
from .jobs.worker import Worker
from .overview.overview import Overviews
from .service_time import ServiceTime
from .upkeep.jobs import CoreJobs


@dataclass(frozen=True, kw_only=True)
class CoreServices(Foundation, AccessServices, FileServices, CollectionServices, TrashServices):
    """The services that the built-in jobs use."""

    audit: Audit
    health: Health
    overviews: Overviews


@dataclass(frozen=True, kw_only=True)
class Services(CoreServices):
    """All services that the web API and the console application call.

    `request_observers` are called after each request.
    """

    jobs: Jobs
    inventory: Inventory
    worker: Worker
    service_time: ServiceTime
    request_observers: list[RequestObserver] = field(default_factory=list)


def assemble(
    ini: Mapping[str, str],
    environment: Mapping[str, str] = os.environ,
    plugins: PluginRegistry | None = None,
    engine: Engine | None = None,
) -> Services:
    """Build the services from the settings, without connecting to the database or migrating it.

    By default, the installed plug-ins are used, and an engine is made for `database.url`.
    Raises `ConfigurationError` if the service cannot start with these settings.
    """
    base = make_foundation(ini, environment, plugins, engine)
    core = _build_core(base)
    jobs, worker = build_worker(base, core=CoreJobs(core), ini=ini, environment=environment)
    is_worker = base.settings.worker_in_process and not base.settings.read_only
    recorder = UseRecorder(core.token_uses)
    service_time = ServiceTime(base.plugins, base.contexts, base.backends, recorder, worker if is_worker else None)
    inventory = Inventory(core, jobs.scheduled, SettingsInForce(ini, environment, base.mask))
    services = Services(**vars(core), jobs=jobs, inventory=inventory, worker=worker, service_time=service_time)
    base.plugin_service.connect(services)
    return services


def _build_core(base: Foundation) -> CoreServices:
    access = build_access(base)
    files = build_files(base, access)
    collections = build_collections(base, access, files)
    return CoreServices(
        **vars(base),
        **vars(access),
        **vars(files),
        **vars(collections),
        **vars(build_trash(base, files)),
        audit=Audit(base.database),
        health=Health(base),
        overviews=Overviews(base.database, base.backends),
    )
