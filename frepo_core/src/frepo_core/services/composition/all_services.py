"""Builds all services."""

import os
from collections.abc import Mapping

from sqlalchemy import Engine

from frepo_core.plugins.registry import PluginRegistry

from ..access.token_uses import UseRecorder
from ..content.storages.storage_watch import StorageWatch
from ..foundation import Foundation, make_foundation
from ..reports.audit import Audit
from ..reports.health import Health
from ..reports.inventory.inventory import Inventory
from ..reports.inventory.settings_in_force import SettingsInForce
from ..reports.overview.overview import Overviews
from .access_services import build_access
from .builtin_jobs import CoreJobs
from .collection_services import build_collections
from .container import CoreServices, Services
from .file_services import build_files
from .plugin_service import PluginService
from .service_time import ServiceTime
from .trash_services import build_trash
from .worker_assembly import build_worker


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
    facade = PluginService()
    base = make_foundation(ini, environment, plugins, engine, facade=facade)
    core = _build_core(base)
    jobs, worker = build_worker(base, core=CoreJobs(core), ini=ini, environment=environment)
    is_worker = base.settings.worker_in_process and not base.settings.read_only
    recorder = UseRecorder(core.token_uses)
    watch = StorageWatch(base.database, base.backends, base.presence, base.storage_states)
    service_time = ServiceTime(
        base.plugins,
        base.contexts,
        base.backends,
        recorder,
        worker if is_worker else None,
        None if base.settings.read_only else watch,
    )
    inventory = Inventory(base, jobs.scheduled, SettingsInForce(ini, environment, base.mask))
    services = Services(**vars(core), jobs=jobs, inventory=inventory, worker=worker, service_time=service_time)
    facade.connect(services)
    return services


def _build_core(base: Foundation) -> CoreServices:
    access = build_access(base)
    files = build_files(base, access)
    trash = build_trash(base, files)
    collections = build_collections(base, access, files, trash)
    return CoreServices(
        **vars(base),
        **vars(access),
        **vars(files),
        **vars(collections),
        **vars(trash),
        audit=Audit(base.database),
        health=Health(base),
        overviews=Overviews(base.database, base.backends),
    )
