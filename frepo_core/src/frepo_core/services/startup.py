"""Checks that must pass before the service or a command uses a database."""

from frepo_core.db import Database, migrations
from frepo_core.settings import Settings

from .access import token_phrase


def make_ready(database: Database, settings: Settings) -> None:
    """Migrate the database if `database.auto_upgrade` is on, then check the schema and the token phrase.

    Raises `ConfigurationError` and `DatabaseUnavailableError`, and leaves no connection open then.
    """
    migrations.make_ready(database.engine, upgrades=settings.database_auto_upgrade)
    try:
        token_phrase.check(database, settings.enc_token_phrase.get_secret_value())
    except Exception:
        database.engine.dispose()
        raise
