"""Builds all use cases over one database."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Engine

from frepo_core.db import Database, make_engine
from frepo_core.plugins import PluginRegistry
from frepo_core.settings import Settings, load_settings

from .adding import Adding
from .aliases import Aliases
from .blobs import Blobs
from .collections import Collections
from .downloads import Downloads
from .fetching import Fetching
from .files import Files
from .health import Health
from .hotlinks import Hotlinks
from .intake import Intake
from .links import Links
from .listing import Listing
from .passwords import Passwords
from .storages import Storages
from .tokens import Tokens
from .versions import Versions


@dataclass(frozen=True, kw_only=True)
class Services:
    """Everything that the web and the console call."""

    settings: Settings
    plugins: PluginRegistry
    database: Database
    storages: Storages
    blobs: Blobs
    intake: Intake
    links: Links
    tokens: Tokens
    files: Files
    downloads: Downloads
    listing: Listing
    hotlinks: Hotlinks
    fetching: Fetching
    collections: Collections
    versions: Versions
    adding: Adding
    health: Health


def assemble(
    ini: Mapping[str, str],
    environment: Mapping[str, str] = os.environ,
    plugins: PluginRegistry | None = None,
    engine: Engine | None = None,
) -> Services:
    """Build the services from the settings. Nothing is connected or migrated yet.

    The plug-ins are those that are installed and the engine is that of the settings, unless they are handed over.
    Raises `ConfigurationError` for whatever keeps the service from starting.
    """
    settings = load_settings(ini, environment)
    plugins = plugins or PluginRegistry.from_entry_points(settings.plugins_disabled)
    engine = engine or make_engine(settings.database_url.get_secret_value(), settings.database_driver)
    database = Database(engine, settings.database_reserve)
    storages = Storages(plugins, settings.fs_adapter, ini, environment, reads_back=settings.fs_read_back)
    intake, passwords, links = Intake(settings.temp_directory), Passwords(settings), Links(settings)
    blobs = Blobs(database, storages)
    files = Files(database, intake, blobs, passwords)
    return Services(
        settings=settings,
        plugins=plugins,
        database=database,
        storages=storages,
        blobs=blobs,
        intake=intake,
        links=links,
        tokens=Tokens(database, settings),
        files=files,
        downloads=Downloads(database, settings, files, storages, passwords, links, Aliases(settings.ids_mapping_file)),
        listing=Listing(database, passwords),
        hotlinks=Hotlinks(settings),
        fetching=Fetching(settings),
        collections=Collections(database, settings, plugins, passwords),
        versions=Versions(database, blobs, passwords),
        adding=Adding(database, settings, plugins, intake, blobs),
        health=Health(database, storages, settings),
    )
