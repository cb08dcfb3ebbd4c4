"""The database that the settings name."""

from sqlalchemy import Engine

from frepo_core.db import Database, make_engine
from frepo_core.settings import Settings


def open_database(settings: Settings, engine: Engine | None = None) -> Database:
    """Return the settings' database, or that of the engine. Nothing is connected yet.

    Raises `ConfigurationError` for a URL that is none.
    """
    return Database(engine or make_engine(settings.database_url.get_secret_value(), settings.database_driver))
