"""Says whether a database accepts writes: after a failover, or on a broken disk, it may only be read."""

import contextlib
import os

from sqlalchemy import Engine, text
from sqlalchemy.exc import ProgrammingError

from frepo_core.errors import DatabaseUnavailableError

from .driver_errors import READ_ONLY, translated


def require_writable(engine: Engine) -> None:
    """Raise `DatabaseUnavailableError` if the database refuses every write. Nothing is changed."""
    if engine.dialect.name == "sqlite":
        _require_writable_file(engine.url.database)
        return
    # Without the table, the check of the schema says what to do.
    with contextlib.suppress(ProgrammingError), translated(engine), engine.connect() as connection:
        connection.execute(text("DELETE FROM lease WHERE 1 = 0"))  # a read-only server refuses the statement itself
        connection.rollback()


def _require_writable_file(path: str | None) -> None:
    """Look at the file, and at the folder for SQLite's log. Root may write to all but a read-only disk."""
    if not path or not os.path.exists(path):  # it is in memory
        return
    for name in (path, os.path.dirname(os.path.abspath(path))):
        if not os.access(name, os.W_OK):
            raise DatabaseUnavailableError(f"{READ_ONLY}: frepo may not write to {name}")
