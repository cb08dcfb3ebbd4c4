"""Checks that must pass before the service or a command uses a database."""

import logging

from sqlalchemy import MetaData, func, select

from frepo_core.db import Database, migrations
from frepo_core.db.migrations import plugin_schemas
from frepo_core.db.migrations.plugin_schemas import PluginSchema
from frepo_core.db.models import StoredObject
from frepo_core.db.plugin_tables import table_prefix
from frepo_core.errors import ConfigurationError
from frepo_core.plugins import Tables
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.settings import Settings

from ..access import token_phrase
from ..backups.rotation.missing_strategies import find_misfits, find_missing_strategies
from ..base.installation import ensure_id, require_no_recovery
from ..base.plugin_rows import find_unfit, read_back
from ..content.storages.backends import Backends
from ..content.storages.first_storage import find_differences, follow_promotion

log = logging.getLogger(__name__)


def make_ready(database: Database, settings: Settings, plugins: PluginRegistry, backends: Backends) -> bool:
    """Migrate the database if `database.auto_upgrade` is on, then check the schema and the token phrase.

    So for the tables of plug-ins.

    A database without an id gets one. Return whether the database was empty before.

    Raises `ConfigurationError` and `DatabaseUnavailableError`, and leaves no connection open then.
    """
    was_empty = migrations.make_ready(database.engine, upgrades=settings.database_auto_upgrade)
    try:
        schemas = schemas_of(plugins)
        if settings.database_auto_upgrade:
            plugin_schemas.upgrade(database.engine, schemas)
        plugin_schemas.check_are_current(database.engine, schemas)
        if not settings.read_only:
            read_back(database, schemas)
        require_no_recovery(database)
        require_decoder(database, backends)
        token_phrase.verify(database, settings.enc_token_phrase.get_secret_value())
        ensure_id(database)
    except Exception:
        database.engine.dispose()
        raise
    return was_empty


def schemas_of(plugins: PluginRegistry) -> list[PluginSchema]:
    """Return the schemas of the plug-ins that have tables. Raises `ConfigurationError` for tables with other names."""
    return [_schema(plugin, tables) for plugin in plugins.found for tables in plugin.tables()]


def _schema(plugin: FoundPlugin, tables: Tables) -> PluginSchema:
    metadata, prefix = getattr(tables.models, "metadata", None), table_prefix(plugin.name)
    if not isinstance(metadata, MetaData):
        raise ConfigurationError(f"{plugin.origin}: models of frepo_tables is no base of models: {tables.models!r}")
    if others := [name for name in metadata.tables if not name.startswith(prefix)]:
        raise ConfigurationError(
            f"{plugin.origin} has a table {min(others)!r}. Its names must begin with {prefix!r}: make the base with "
            f"PluginTables and plugin = {plugin.name!r}"
        )
    if tables.is_recovered and (unfit := find_unfit(metadata)):
        raise ConfigurationError(
            f"{plugin.origin}: the column {unfit} cannot be recovered. With is_recovered, columns are numbers, texts, "
            "truth values, times, or JSON"
        )
    return PluginSchema(
        plugin=plugin.name,
        origin=plugin.origin,
        metadata=metadata,
        revisions=tables.migrations,
        is_recovered=tables.is_recovered,
    )


def warn_about_first_storage(database: Database, backends: Backends, settings: Settings) -> None:
    """Follow a promotion of another storage. Log how the settings differ from it, and what to do."""
    follow_promotion(database, backends)
    for difference, remedy in find_differences(backends, settings.mirror):
        log.warning("%s. %s", difference, remedy)


def warn_about_strategies(database: Database, plugins: PluginRegistry) -> None:
    """Log which collections accept no uploads because their strategy is missing, and which have wrong options."""
    for text in find_missing_strategies(database, plugins.strategies):
        log.warning("%s. Install its package and restart the service, or choose another strategy", text)
    for text in find_misfits(database, plugins):
        log.warning("%s. Its defaults apply until `frepo backup:edit ID --strategy-options JSON`", text)


def require_decoder(database: Database, backends: Backends) -> None:
    """Raise `ConfigurationError` if contents are stored compressed and this process cannot decode them."""
    try:
        backends.encodings.require()
    except ConfigurationError as error:
        with database.reading() as session:
            count = session.scalar(select(func.count(StoredObject.id)).where(StoredObject.stored_size.is_not(None)))
        if count:
            raise ConfigurationError(f"{count} contents are stored compressed. {error.message}") from error
