"""Builds all services over one database."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Engine

from frepo_core.db import Database, make_engine
from frepo_core.plugins import PluginContext, PluginRegistry, RequestObserver, make_contexts
from frepo_core.settings import Settings, core_prefixes, load_disabled_plugins, load_settings

from .access.passwords import Passwords
from .access.protected_urls import ProtectedUrls
from .access.signed_links import SignedLinks
from .access.token_changes import TokenChanges
from .access.token_inventory import TokenInventory
from .access.token_uses import TokenUses, UseRecorder
from .access.tokens import Tokens
from .blobs.backends import Backends
from .blobs.lifecycle import Blobs
from .checks.upload_checks import UploadChecks
from .collections.access import CollectionAccess, Enrolments
from .collections.add_version import AddVersion
from .collections.collection_pages import CollectionPages
from .collections.collections import Collections
from .collections.version_checks import VersionChecks
from .collections.versions import Versions
from .content.ingest import Ingest
from .events.audit import Audit
from .events.downloads import DownloadEvents
from .events.masking import Mask
from .events.refusals import Refusals
from .events.storage_states import StorageStates
from .files.aliases import Aliases
from .files.downloads import Downloads
from .files.file_edits import FileEdits
from .files.files import Files
from .files.listing import Listing
from .files.stored_aliases import StoredAliases
from .health import Health
from .inventory.inventory import Inventory
from .inventory.settings_in_force import SettingsInForce
from .jobs.assembly import build_worker
from .jobs.jobs import Jobs
from .jobs.worker import Worker
from .overview.overview import Overviews
from .plugin_service import PluginService
from .remote.fetcher import Fetcher
from .restore import RestoreTests
from .service_time import ServiceTime
from .upkeep.jobs import upkeep_jobs


@dataclass(frozen=True, kw_only=True)
class CoreServices:
    """The services that the built-in jobs use.

    `contexts` are the contexts of the plug-ins by the plug-in's name. `request_observers` are called after each request.
    """

    settings: Settings
    plugins: PluginRegistry
    contexts: Mapping[str, PluginContext]
    database: Database
    backends: Backends
    blobs: Blobs
    ingest: Ingest
    links: SignedLinks
    tokens: Tokens
    token_uses: TokenUses
    token_inventory: TokenInventory
    token_changes: TokenChanges
    files: Files
    file_edits: FileEdits
    downloads: Downloads
    aliases: StoredAliases
    listing: Listing
    protected_urls: ProtectedUrls
    fetcher: Fetcher
    collections: Collections
    collection_access: CollectionAccess
    enrolments: Enrolments
    collection_pages: CollectionPages
    versions: Versions
    version_checks: VersionChecks
    restore_tests: RestoreTests
    add_version: AddVersion
    refusals: Refusals
    download_events: DownloadEvents
    audit: Audit
    health: Health
    overviews: Overviews


@dataclass(frozen=True, kw_only=True)
class Services(CoreServices):
    """All services that the web API and the console application call."""

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
    disabled = load_disabled_plugins(ini, environment)
    plugins = plugins or PluginRegistry.from_entry_points(disabled)
    # Settings of a plug-in that is switched off may stay in the ini file.
    settings = load_settings(ini, environment, others={*plugins.settings, *disabled} - core_prefixes() | {"jobs"})
    service = PluginService()
    contexts = make_contexts(plugins.found, plugins.load_settings(ini, environment), service)
    plugins = plugins.configured(contexts)
    engine = engine or make_engine(settings.database_url.get_secret_value(), settings.database_driver)
    database = Database(engine, settings.database_reserve)
    backends = Backends(plugins, settings.fs_adapter, ini, environment, reads_back=settings.fs_read_back)
    ingest, passwords, links = Ingest(settings.temp_directory), Passwords(settings), SignedLinks(settings)
    states = StorageStates(database, is_read_only=settings.read_only)
    blobs = Blobs(database, backends, states)
    checks, refusals = UploadChecks(plugins, contexts), Refusals(database, is_read_only=settings.read_only)
    files = Files(database, ingest, blobs, passwords, checks)
    uses, inventory = TokenUses(database, is_read_only=settings.read_only), TokenInventory(database, settings)
    tokens, collections = Tokens(database, settings, uses), Collections(database, settings, plugins, passwords)
    token_changes = TokenChanges(database, settings, inventory)
    access = CollectionAccess(database, collections, tokens)
    from_file = Aliases(settings.ids_mapping_file)
    aliases = StoredAliases(database, from_file)
    downloads = Downloads(database, settings, files, backends, passwords, links, from_file, aliases)
    versions, version_checks = Versions(database, blobs, passwords), VersionChecks(database)
    mask = Mask(settings, backends.current_settings, *(context.settings for context in contexts.values()))
    core = CoreServices(
        settings=settings,
        plugins=plugins,
        contexts=contexts,
        database=database,
        backends=backends,
        blobs=blobs,
        ingest=ingest,
        links=links,
        tokens=tokens,
        token_uses=uses,
        token_inventory=inventory,
        token_changes=token_changes,
        files=files,
        file_edits=FileEdits(database, files, passwords),
        downloads=downloads,
        aliases=aliases,
        listing=Listing(database, passwords),
        protected_urls=ProtectedUrls(settings),
        fetcher=Fetcher(settings),
        collections=collections,
        collection_access=access,
        enrolments=Enrolments(database, collections, tokens, token_changes, access),
        collection_pages=CollectionPages(database),
        versions=versions,
        version_checks=version_checks,
        restore_tests=RestoreTests(database, settings, versions, downloads, version_checks, mask),
        add_version=AddVersion(database, settings, plugins, ingest, blobs, checks, refusals),
        refusals=refusals,
        download_events=DownloadEvents(database, settings),
        audit=Audit(database),
        health=Health(database, backends, settings, plugins, contexts, states, mask),
        overviews=Overviews(database, backends),
    )
    jobs, worker = build_worker(
        database,
        settings,
        plugins,
        contexts,
        own_jobs=upkeep_jobs(core),
        mask=mask,
        service=service,
        ini=ini,
        environment=environment,
    )
    is_worker = settings.worker_in_process and not settings.read_only
    service_time = ServiceTime(plugins, contexts, backends, UseRecorder(uses), worker if is_worker else None)
    installed = Inventory(core, jobs.scheduled, SettingsInForce(ini, environment, mask))
    services = Services(**vars(core), jobs=jobs, inventory=installed, worker=worker, service_time=service_time)
    service.connect(services)
    return services
