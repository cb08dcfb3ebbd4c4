"""Makes the container of the services from the settings."""

import os
from collections.abc import Mapping

from sqlalchemy import Engine

from frepo_core.db import Database, Timeouts, make_engine
from frepo_core.plugins import Service
from frepo_core.plugins.registry import PluginRegistry, make_contexts
from frepo_core.settings import Settings, core_prefixes, load_disabled_plugins, load_settings

from ..content.encodings import Encodings
from ..content.storages.backends import Backends
from ..content.storages.journal_comparison import JournalComparison
from ..content.storages.storage_troubles import StorageStates
from ..content.storages.write_guard import Presence
from ..events.masking import Mask
from .container import Services
from .facade.connection import Connection
from .facade.plugin_service import PluginService
from .features import Feature

# How long a transaction may do nothing: then its host was frozen, or lost its network. Its locks are released.
IDLE_SECONDS = 10.0
# After so long without an answer of the database's host, a connection counts as lost.
NETWORK_SECONDS = 15.0


def assemble(
    ini: Mapping[str, str],
    environment: Mapping[str, str] = os.environ,
    plugins: PluginRegistry | None = None,
    engine: Engine | None = None,
    *,
    features: tuple[Feature, ...] = (),
) -> Services:
    """Load the settings and the plug-ins, without connecting to the database or migrating it.

    By default, the installed plug-ins are used, and an engine is made for `database.url`. Each service is built when it
    is used. `features` bring services, jobs and endpoints of their own. Raises `ConfigurationError` if the service
    cannot start with these settings.
    """
    connection = Connection()

    def facade_of(plugin: str) -> Service:
        return PluginService(connection, plugin)

    disabled = load_disabled_plugins(ini, environment)
    plugins = plugins or PluginRegistry.from_entry_points(disabled)
    # Settings of a plug-in that is switched off may stay in the ini file.
    settings = load_settings(ini, environment, others={*plugins.settings, *disabled} - core_prefixes() | {"jobs"})
    contexts = make_contexts(plugins.found, plugins.load_settings(ini, environment), facade_of)
    plugins = plugins.configured(contexts)
    database = _connect(settings, engine)
    backends = _make_backends(settings, plugins, ini, environment)
    presence = Presence(database, backends)
    backends.encodings = _encodings(features)
    backends.journals = _compare_journals(database, backends, presence)
    services = Services(
        ini=ini,
        environment=environment,
        features=features,
        settings=settings,
        plugins=plugins,
        contexts=contexts,
        facade_of=facade_of,
        database=database,
        backends=backends,
        presence=presence,
        storage_states=StorageStates(database, is_read_only=settings.read_only),
        mask=Mask(settings, *backends.in_use.values(), *(context.settings for context in contexts.values())),
    )
    connection.services = services
    return services


def _connect(settings: Settings, engine: Engine | None) -> Database:
    """Return the database. No connection is opened yet."""
    url, driver = settings.database_url.get_secret_value(), settings.database_driver
    return Database(engine or make_engine(url, driver, _timeouts(settings)), settings.database_reserve)


def _make_backends(
    settings: Settings, plugins: PluginRegistry, ini: Mapping[str, str], environment: Mapping[str, str]
) -> Backends:
    return Backends(
        plugins,
        settings.fs_adapter,
        ini,
        environment,
        named=settings.storages,
        mirror=settings.mirror,
        reads_back=settings.fs_read_back,
    )


def _encodings(features: tuple[Feature, ...]) -> Encodings:
    made = [feature.encodings() for feature in features if feature.encodings]
    return made[0] if made else Encodings()


def _compare_journals(database: Database, backends: Backends, presence: Presence) -> JournalComparison:
    def find_unknown(storage: str) -> str | None:
        from ..upkeep.journal.comparison import find_unknown_part

        return find_unknown_part(database, backends, presence, storage)

    return JournalComparison(find_unknown, backends.breaker.skips)


def _timeouts(settings: Settings) -> Timeouts:
    return Timeouts(
        lock=settings.database_lock_timeout,
        statement=settings.database_statement_timeout,
        idle=IDLE_SECONDS,
        network=NETWORK_SECONDS,
    )
