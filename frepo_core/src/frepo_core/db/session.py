"""Short transactions: reading, and writing that is tried again when another writer was in the way."""

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import transaction
import zope.sqlalchemy
from sqlalchemy import Engine, Row, Select, text
from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session, sessionmaker

from frepo_core.errors import DatabaseUnavailableError, StorageFull

from .engine import BUSY_SECONDS
from .remembering import Remembered
from .watch import CommitWatch

Result = TypeVar("Result")

ATTEMPTS = 10
SILENT = "The database does not answer, try again later"
_NO_ROOM = ("disk is full", "no space left", "could not extend file", "disk full", "quota")


class Database:
    """Hands out short transactions; no one may keep one while bytes move.

    A database that is away raises `DatabaseUnavailableError`, a full one `StorageFull`.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._looking = engine.execution_options(sqlite_begin="")
        self._sessions = sessionmaker(engine, expire_on_commit=False)
        self._transactions = _Transactions(explicit=True)
        zope.sqlalchemy.register(self._sessions, transaction_manager=self._transactions)
        # SQLite's own queue is unfair and polls; one lock in the process halves the slowest waits.
        is_sqlite = engine.dialect.name == "sqlite"
        self._writers = threading.Lock() if is_sqlite else None
        self._remembered = Remembered(engine) if is_sqlite else None

    @contextlib.contextmanager
    def reading(self) -> Iterator[Session]:
        """Open a session that only reads; it is rolled back at its end."""
        with _translated(), Session(self.engine) as session:
            session.connection(execution_options={"sqlite_begin": "DEFERRED"})
            yield session

    def look(self, query: Select[Any], **values: Any) -> Sequence[Row[Any]]:
        """Return the rows of one query over tables. Without a session that costs a third.

        `values` are for its `bindparam`s: a query that is made once, and not for each request, costs a third again.
        On SQLite one that was asked since the last commit is not asked again.
        """
        if self._remembered is None:
            return self._ask(query, values)
        return self._remembered.find((query, *values.values()), lambda: self._ask(query, values))

    def write(self, work: Callable[[Session], Result], *, watch: CommitWatch | None = None) -> Result:
        """Run `work` in a transaction and commit; run it again when a conflict with another writer undid it.

        What `work` raises rolls back and comes out. `watch` learns whether the commit happened. Another program
        that keeps SQLite locked is waited for once, and not once for each attempt and each writer in the queue.
        """
        patience = time.monotonic() + BUSY_SECONDS
        with self._turn(), _translated():
            manager = self._transactions
            for tried, attempt in enumerate(manager.attempts(ATTEMPTS)):
                if tried:
                    time.sleep(random.uniform(0, 0.02 * tried))  # spreads writers, guards nothing
                with attempt as current:
                    session = self._sessions()
                    current.join(_Conflicts(manager, patience))
                    if watch is not None:
                        current.join(watch.restart(manager))
                    result = work(session)
            return result

    def _ask(self, query: Select[Any], values: Mapping[str, Any]) -> Sequence[Row[Any]]:
        with _translated(), self._looking.connect() as connection:
            return connection.execute(query, values).all()

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Be the one writer of this process, where the database takes one at a time."""
        if self._writers is None:
            yield
            return
        if not self._writers.acquire(timeout=BUSY_SECONDS):
            raise DatabaseUnavailableError(SILENT)
        try:
            yield
        finally:
            self._writers.release()

    def check(self) -> None:
        """Ask the database for a sign of life."""
        with self.reading() as session:
            session.execute(text("SELECT 1"))


class _Transactions(threading.local, transaction.TransactionManager):  # type: ignore[misc]  # it has no types
    """A transaction for each thread: all sessions know one manager, as telling each costs as much as a statement."""


class _Conflicts(CommitWatch):
    """Says which failures of a transaction are worth another try."""

    def __init__(self, manager: transaction.TransactionManager, patience: float) -> None:
        super().__init__(manager)
        self._patience = patience

    def should_retry(self, error: BaseException) -> bool:
        """Take a lost race for a unique name, or for a lock, as a conflict, while there is time."""
        if time.monotonic() > self._patience:
            return False
        if isinstance(error, IntegrityError):
            return True
        if not isinstance(error, OperationalError) or error.orig is None:
            return False
        if str(getattr(error.orig, "sqlstate", "")).startswith("40"):  # PostgreSQL's class of rollbacks
            return True
        return error.orig.args[:1] in {(1205,), (1213,), ("database is locked",)}


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Say in frepo's words that the database is away or full."""
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeoutError) as error:
        if any(sign in str(error).lower() for sign in _NO_ROOM):
            raise StorageFull("The database has no room left") from error
        raise DatabaseUnavailableError(SILENT) from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise DatabaseUnavailableError(SILENT) from error
        raise
