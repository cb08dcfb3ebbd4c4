"""What all services use: the settings, the plug-ins, the database and the storages."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Engine

from frepo_core.db import Database, Timeouts, make_engine
from frepo_core.plugins import PluginContext, Service
from frepo_core.plugins.registry import PluginRegistry, make_contexts
from frepo_core.settings import Settings, core_prefixes, load_disabled_plugins, load_settings

from .content.storages.backends import Backends
from .content.storages.presence import Presence
from .events.masking import Mask
from .events.storage_states import StorageStates


@dataclass(frozen=True, kw_only=True)
class Foundation:
    """What all services use.

    `contexts` are the contexts of the plug-ins by the plug-in's name; `facade` is the service in them. `mask`
    masks the values of all secret settings.
    """

    settings: Settings
    plugins: PluginRegistry
    contexts: Mapping[str, PluginContext]
    facade: Service
    database: Database
    backends: Backends
    presence: Presence
    storage_states: StorageStates
    mask: Mask


def make_foundation(
    ini: Mapping[str, str],
    environment: Mapping[str, str] = os.environ,
    plugins: PluginRegistry | None = None,
    engine: Engine | None = None,
    *,
    facade: Service,
) -> Foundation:
    """Load the settings and the plug-ins, without connecting to the database. Raises `ConfigurationError`.

    `facade` is how plug-ins use the services. They may be built later.
    """
    disabled = load_disabled_plugins(ini, environment)
    plugins = plugins or PluginRegistry.from_entry_points(disabled)
    # Settings of a plug-in that is switched off may stay in the ini file.
    settings = load_settings(ini, environment, others={*plugins.settings, *disabled} - core_prefixes() | {"jobs"})
    contexts = make_contexts(plugins.found, plugins.load_settings(ini, environment), facade)
    plugins = plugins.configured(contexts)
    engine = engine or make_engine(
        settings.database_url.get_secret_value(), settings.database_driver, _timeouts(settings)
    )
    database = Database(engine, settings.database_reserve)
    backends = Backends(plugins, settings.fs_adapter, ini, environment, reads_back=settings.fs_read_back)
    return Foundation(
        settings=settings,
        plugins=plugins,
        contexts=contexts,
        facade=facade,
        database=database,
        backends=backends,
        presence=Presence(database, backends),
        storage_states=StorageStates(database, is_read_only=settings.read_only),
        mask=Mask(settings, backends.current_settings, *(context.settings for context in contexts.values())),
    )


def _timeouts(settings: Settings) -> Timeouts:
    return Timeouts(
        lock=settings.database_lock_timeout,
        statement=settings.database_statement_timeout,
        idle=settings.database_idle_timeout,
        network=settings.database_network_timeout,
    )
