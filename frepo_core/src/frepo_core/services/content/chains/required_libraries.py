"""Refuses to start without the libraries that decode what is stored encoded."""

from sqlalchemy import func, select

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.errors import ConfigurationError

from ..encodings.libraries import require_libraries


def require_decoder(database: Database) -> None:
    """Raise `ConfigurationError` if contents are stored compressed and the extra `compact` is not installed."""
    try:
        require_libraries()
    except ConfigurationError as error:
        with database.reading() as session:
            count = session.scalar(select(func.count(StoredObject.id)).where(StoredObject.stored_size.is_not(None)))
        if count:
            raise ConfigurationError(f"{count} contents are stored compressed. {error.message}") from error
