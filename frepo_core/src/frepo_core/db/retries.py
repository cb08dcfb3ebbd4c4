"""Which transactions are run again after a conflict with another writer."""

import contextlib
import random
import time
from collections.abc import Iterator

from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from sqlalchemy.orm.exc import StaleDataError

from frepo_core.errors import DatabaseUnavailableError

from .commit_watch import CommitWatch

CONFLICTS = "Too many others change the same, try again later"


def may_retry(error: Exception, watch: CommitWatch, deadline: float) -> bool:
    """Return whether to run a transaction again: after a conflict about a unique value, a lock or a deleted row, and
    after a connection broke before the COMMIT.

    After the deadline (monotonic seconds), return False.
    """
    if time.monotonic() > deadline:
        return False
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return not watch.tried
    if isinstance(error, IntegrityError | StaleDataError):
        return True
    return isinstance(error, OperationalError) and is_conflict(error)


def is_conflict(error: OperationalError) -> bool:
    """Return whether the database ended the transaction because of a lock of another writer."""
    if str(getattr(error.orig, "sqlstate", "")).startswith("40"):  # PostgreSQL's class of rollbacks
        return True
    return getattr(error.orig, "args", ())[:1] in {(1213,), ("database is locked",)}


def spread_writers(tried: int) -> None:
    """Pause before another attempt, so that writers that failed together do not meet again."""
    if tried:
        time.sleep(random.uniform(0, 0.02 * tried))  # needs no secure randomness


@contextlib.contextmanager
def until(deadline: float) -> Iterator[None]:
    """Raise `DatabaseUnavailableError` for a conflict about a unique value if the deadline has ended the attempts."""
    try:
        yield
    except IntegrityError as error:
        if time.monotonic() < deadline:
            raise
        raise DatabaseUnavailableError(CONFLICTS) from error
