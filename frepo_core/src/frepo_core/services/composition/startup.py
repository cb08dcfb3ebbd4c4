"""Checks that must pass before the service or a command uses a database."""

import logging

from frepo_core.db import Database, migrations
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.settings import Settings

from ..access import token_phrase
from ..backups.rotation.missing_strategies import find_misfits, find_missing_strategies
from ..base.installation import ensure_id

log = logging.getLogger(__name__)


def make_ready(database: Database, settings: Settings) -> bool:
    """Migrate the database if `database.auto_upgrade` is on, then check the schema and the token phrase.

    A database without an id gets one. Return whether the database was empty before.

    Raises `ConfigurationError` and `DatabaseUnavailableError`, and leaves no connection open then.
    """
    was_empty = migrations.make_ready(database.engine, upgrades=settings.database_auto_upgrade)
    try:
        token_phrase.verify(database, settings.enc_token_phrase.get_secret_value())
        ensure_id(database)
    except Exception:
        database.engine.dispose()
        raise
    return was_empty


def warn_about_strategies(database: Database, plugins: PluginRegistry) -> None:
    """Log which collections accept no uploads because their strategy is missing, and which have wrong options."""
    for text in find_missing_strategies(database, plugins.strategies):
        log.warning("%s. Install its package and restart the service, or choose another strategy", text)
    for text in find_misfits(database, plugins):
        log.warning("%s. Its defaults apply until `frepo backup:edit ID --strategy-options JSON`", text)
