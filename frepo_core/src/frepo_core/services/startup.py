"""What has to hold before the service or a command works with a database."""

from frepo_core.db import Database, migrations
from frepo_core.settings import Settings

from .access import token_phrase


def make_ready(database: Database, settings: Settings) -> None:
    """Migrate if the settings ask for it, then check the schema and the token phrase.

    Raises `ConfigurationError` and `DatabaseUnavailableError`; no connection stays open then.
    """
    migrations.make_ready(database.engine, upgrades=settings.database_auto_upgrade)
    try:
        token_phrase.check(database, settings.enc_token_phrase.get_secret_value())
    except Exception:
        database.engine.dispose()
        raise
