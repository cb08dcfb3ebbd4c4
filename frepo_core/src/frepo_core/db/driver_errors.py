"""Turns errors of the database drivers into those of the service."""

import contextlib
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from frepo_core.errors import DatabaseUnavailableError, StorageFull

from .sqlite.reserve import lacks_space
from .waiting.patience import Patience
from .waiting.watch import NO_ANSWER, Watch

FULL = "The database has no room left"
_LOCKED = "Another request changes the same and does not end, try again later"
READ_ONLY = "The database accepts no writes now, it is read-only; try again later"


@contextlib.contextmanager
def translated(engine: Engine) -> Iterator[Patience | None]:
    """Raise errors of the driver as `DatabaseUnavailableError` or `StorageFull`.

    Yield the patience of this thread's request, None if it handles none. Raises `DatabaseUnavailableError` at once if
    the request need not wait.
    """
    patience = Watch.of(engine).admit()
    # MariaDB's driver sends a statement to set an isolation level, and SQLAlchemy does not wrap its errors.
    driver: Any = engine.dialect.loaded_dbapi
    unavailable = (OperationalError, InterfaceError, PoolTimeoutError, driver.OperationalError, driver.InterfaceError)
    try:
        yield patience
    except unavailable as error:
        if lacks_space(error):
            raise StorageFull(FULL) from error
        raise DatabaseUnavailableError(_message(error)) from error
    except DBAPIError as error:
        if _is_read_only(error):
            raise DatabaseUnavailableError(READ_ONLY) from error
        if error.connection_invalidated:
            raise DatabaseUnavailableError(NO_ANSWER) from error
        raise


def _message(error: Exception) -> str:
    origin = getattr(error, "orig", None)
    is_locked = getattr(origin, "sqlstate", "") == "55P03" or getattr(origin, "args", ())[:1] == (1205,)
    return _LOCKED if is_locked else READ_ONLY if _is_read_only(error) else NO_ANSWER


def _is_read_only(error: Exception) -> bool:
    """Return whether a write failed because the database or the transaction is read-only."""
    origin = getattr(error, "orig", None)
    if str(getattr(origin, "sqlstate", "")) == "25006" or "readonly database" in str(origin):  # PostgreSQL, SQLite
        return True
    return getattr(origin, "args", ())[:1] in {(1290,), (1792,), (1836,)}  # MariaDB and MySQL
