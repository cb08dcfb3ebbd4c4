"""Which transactions are run again after a conflict with another writer, and the transactions of each thread."""

import contextlib
import random
import threading
import time
from collections.abc import Iterator

import transaction
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from transaction.interfaces import NoTransaction

from frepo_core.errors import DatabaseUnavailableError

from .commit_watch import CommitWatch

CONFLICTS = "Too many others change the same, try again later"


class Transactions(threading.local, transaction.TransactionManager):  # type: ignore[misc]  # it has no types
    """One transaction per thread, with one manager for all: registering one per session costs as much as a query."""


class RetryPolicy(CommitWatch):
    """Decides which failed transactions are tried again, until the deadline (monotonic seconds)."""

    def __init__(self, manager: transaction.TransactionManager, deadline: float) -> None:
        super().__init__(manager)
        self._deadline = deadline

    def should_retry(self, error: BaseException) -> bool:
        """Return True for a conflict about a unique value or a lock, and for a connection that broke before the COMMIT.

        After the deadline, return False.
        """
        if time.monotonic() > self._deadline:
            return False
        if isinstance(error, DBAPIError) and error.connection_invalidated:
            return not self.tried
        return isinstance(error, IntegrityError) or (isinstance(error, OperationalError) and is_conflict(error))


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
def ended(manager: transaction.TransactionManager) -> Iterator[None]:
    """Abort the transaction that a failed COMMIT leaves: otherwise this thread could not begin another one."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(NoTransaction):
            manager.abort()
        raise


@contextlib.contextmanager
def until(deadline: float) -> Iterator[None]:
    """Raise `DatabaseUnavailableError` for a conflict about a unique value if the deadline has ended the attempts."""
    try:
        yield
    except IntegrityError as error:
        if time.monotonic() < deadline:
            raise
        raise DatabaseUnavailableError(CONFLICTS) from error
