"""Short transactions: reads, and writes that are retried after a conflict with another writer."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Row, Select, UpdateBase, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session, sessionmaker

from frepo_core.errors import DatabaseUnavailableError, StorageFull

from .clock import clock_query
from .commit_watch import CommitWatch
from .driver_errors import FULL, translated
from .engine import BUSY_SECONDS, public_url, session_limits_of
from .retries import RetryPolicy, Transactions, ended, is_conflict, spread_writers, until
from .sqlite.readers import read
from .sqlite.reserve import LOANS, Reserve, was_rolled_back
from .sqlite.row_cache import RowCache
from .sqlite.writer_pool import CURRENT_THREAD
from .types import is_simulated, utc_now
from .waiting.patience import counted, current_patience, waiting_at_most
from .waiting.watch import NO_ANSWER, Threads, Watch
from .writability import require_writable
from .zope_sessions import join_transactions

Result = TypeVar("Result")

ATTEMPTS = 10
CHECKPOINT_SECONDS = 1
# A single query needs no transaction. MariaDB begins one without a statement of its own, PostgreSQL needs two more.
_SINGLE_QUERY: dict[str, dict[str, Any]] = {"postgresql": {"isolation_level": "AUTOCOMMIT"}}
# On PostgreSQL and MariaDB, each statement sees what was committed before it, in a transaction or not.
_READING: dict[str, dict[str, Any]] = {**_SINGLE_QUERY, "sqlite": {"sqlite_begin": "DEFERRED"}}


class Database:
    """Runs short transactions. Do not keep one open while contents are transferred.

    An unavailable database raises `DatabaseUnavailableError`, a full disk `StorageFull`.
    """

    def __init__(self, engine: Engine, reserve: int = 0) -> None:
        """`reserve` is the disk space in bytes that is reserved for deletions (SQLite only)."""
        self.engine = engine
        self._reserve = Reserve.of(engine, reserve) if reserve else None
        self._autocommit_engine = engine.execution_options(sqlite_begin="")
        # Called after each commit of `write`, in its thread; the worker looks for new events then.
        self.on_commit: Callable[[], None] | None = None
        self._sessions = sessionmaker(engine, expire_on_commit=False)
        self._transactions = Transactions(explicit=True)
        join_transactions(self._sessions, self._transactions)
        # SQLite's writers poll for its lock in no order. One lock in the process halves the longest waits.
        is_sqlite = engine.dialect.name == "sqlite"
        self._single_engine = (
            self._autocommit_engine if is_sqlite else engine.execution_options(isolation_level="AUTOCOMMIT")
        )
        self._limits = session_limits_of(engine)
        self._watch = Watch.of(engine)
        self._clock_query = clock_query(engine.dialect.name)
        self._writers = threading.RLock() if is_sqlite else None
        self._row_cache = RowCache(engine) if is_sqlite else None

    @property
    def name(self) -> str:
        """The URL of the database for messages, without its password."""
        return public_url(self.engine.url)

    def request(self, seconds: float, more: float = 0) -> contextlib.AbstractContextManager[object]:
        """Let this thread wait for the database `seconds` in all, while the body of the `with` statement runs.

        An upload that is too large to send again may wait `more`, if few others do.
        """
        return self._long_request(seconds, more) if more else waiting_at_most(seconds)

    @contextlib.contextmanager
    def _long_request(self, seconds: float, more: float) -> Iterator[None]:
        with waiting_at_most(seconds, more) as patience:
            try:
                yield
            finally:
                self._watch.forget(patience)

    def serve_with(self, threads: Threads) -> None:
        """Take the threads of the server into account: one is kept free of requests that wait."""
        self._watch.threads = threads

    @contextlib.contextmanager
    def reading(self, *, is_snapshot: bool = False) -> Iterator[Session]:
        """Open a session for reading. It writes no changes of models.

        With `is_snapshot`, all statements see the database at the time of the first one. On SQLite they always do.
        """
        name = self.engine.dialect.name
        is_repeatable = is_snapshot and name != "sqlite"
        options = {"isolation_level": "REPEATABLE READ"} if is_repeatable else _READING.get(name, {})
        patience = current_patience()
        if patience and patience.more:
            self._watch.patiently(self._try_connection)
        with translated(self.engine), Session(self.engine, autoflush=False) as session:
            connection = session.connection(execution_options=options)
            if patience is None:
                self._limits.lift(connection, "statement", "idle")
            yield session

    def fetch_rows(self, query: "Select[*tuple[Any, ...]]", **values: Any) -> Sequence[Row[Any]]:
        """Return the rows of one query on tables. Without a session, it takes a third of the time.

        `values` are those of its `bindparam`s: a query that is built only once takes a third of the time again. On
        SQLite, the rows are cached until the next commit.
        """
        if self._row_cache is None:
            return self._query(query, values)
        return self._row_cache.find((query, *values.values()), lambda: self._query(query, values))

    def version(self) -> tuple[int, int] | None:
        """Return a value that changes with each commit of any process; None if the database has none (only SQLite)."""
        return self._row_cache.version() if self._row_cache else None

    def now(self) -> datetime:
        """Return the time of the database's clock (aware, UTC), which is the same for all processes.

        Within `simulated_time`, it is that time.
        """
        if self._clock_query is None or is_simulated():
            return utc_now()
        time: datetime = self._query(self._clock_query, {})[0][0]
        return time

    def execute(self, statement: UpdateBase) -> int:
        """Run one statement that writes, and return the number of rows that an UPDATE or a DELETE found.

        The database itself begins and ends the transaction, so a process that is stopped at any moment holds no lock
        on a server. It is run again if the database ends it because of another writer, and from the reserve if the
        disk is full. Raises `IntegrityError` for a conflict about a unique value.
        """
        try:
            return self._watch.patiently(partial(self._execute, statement))
        except StorageFull:
            if self._reserve is None:
                raise
        return self._write_from_reserve(partial(self._execute, statement), self._reserve)

    @contextlib.contextmanager
    def autocommit(self) -> Iterator[Connection]:
        """Open a connection on which each statement is a transaction of its own, for statements that allow no other."""
        with translated(self.engine) as patience, self._single_engine.connect() as connection:
            if patience is None:
                self._limits.lift(connection, "statement", "idle")
            yield connection

    def refill_reserve(self) -> None:
        """Reserve the disk space for deletions again, if there is enough. Never raises."""
        if self._reserve is not None:
            self._reserve.refill()

    def write(
        self, work: Callable[[Session], Result], *, watch: CommitWatch | None = None, may_use_reserve: bool = False
    ) -> Result:
        """Run `work` in a transaction and commit. Run it again if the transaction conflicts with another writer.

        It is also run again if the connection broke before the COMMIT. So `work` makes the models that it adds itself:
        SQLAlchemy takes those of the first attempt as inserted.

        An exception of `work` rolls the transaction back and is raised. `watch` records whether the commit succeeded.
        If another program keeps SQLite locked, one time limit applies to all attempts together.
        `may_use_reserve` is for deletions: on a full disk they use the reserved space, so that they can free more.
        """
        watch = watch or CommitWatch()
        try:
            result = self._watch.patiently(partial(self._write, work, watch), watch.may_repeat)
        except StorageFull as error:
            if was_rolled_back(error.__cause__):
                watch.note_rollback()
            if self._reserve is None or not may_use_reserve:
                raise
            result = self._write_from_reserve(partial(self._write, work, watch), self._reserve)
            self._reserve.refill()
        if self.on_commit is not None:
            self.on_commit()
        return result

    def _write(self, work: Callable[[Session], Result], watch: CommitWatch) -> Result:
        deadline = time.monotonic() + BUSY_SECONDS
        manager = self._transactions
        with self._writer_lock(), translated(self.engine) as patience, until(deadline), ended(manager):
            for tried, attempt in enumerate(manager.attempts(ATTEMPTS)):
                spread_writers(tried)
                with attempt as current:
                    session = self._sessions()
                    current.join(RetryPolicy(manager, deadline))
                    current.join(watch.restart(manager))
                    connection = session.connection()
                    if patience is None:
                        self._limits.lift(connection, "statement")
                    result = work(session)
            return result

    def _try_connection(self) -> None:
        with self.autocommit():
            pass  # the pool has checked it

    def _execute(self, statement: UpdateBase) -> int:
        deadline = time.monotonic() + BUSY_SECONDS
        with self._writer_lock(), translated(self.engine):
            for tried in range(ATTEMPTS - 1):
                spread_writers(tried)
                try:
                    return self._execute_once(statement)
                except OperationalError as error:
                    if not is_conflict(error) or time.monotonic() > deadline:
                        raise
            return self._execute_once(statement)

    def _execute_once(self, statement: UpdateBase) -> int:
        with self._single_engine.connect() as connection:
            result = connection.execute(statement)
            connection.commit()
            return result.rowcount

    def _write_from_reserve(self, write: Callable[[], Result], reserve: Reserve) -> Result:
        """Write while a part of the reserve is released. Other writers may use it, so try again with larger parts."""
        for loan in LOANS:
            # Other threads cannot commit meanwhile, so they do not use the space.
            with self._writer_lock(), reserve.released(loan), contextlib.suppress(StorageFull):
                result = write()
                self._checkpoint()
                return result
        raise StorageFull(FULL)

    def _checkpoint(self) -> None:
        """Truncate SQLite's write-ahead log, which this write has enlarged, so that the reserve gets its space back."""
        with contextlib.suppress(OperationalError), self._autocommit_engine.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA busy_timeout={CHECKPOINT_SECONDS * 1000}")
            try:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                connection.exec_driver_sql(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")

    def _query(self, query: "Select[*tuple[Any, ...]]", values: Mapping[str, Any]) -> Sequence[Row[Any]]:
        return self._watch.patiently(partial(self._query_twice, query, values))

    def _query_twice(self, query: "Select[*tuple[Any, ...]]", values: Mapping[str, Any]) -> Sequence[Row[Any]]:
        with translated(self.engine):
            try:
                return self._query_once(query, values)
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
            return self._query_once(query, values)  # the pool has closed its broken connections

    def _query_once(self, query: "Select[*tuple[Any, ...]]", values: Mapping[str, Any]) -> Sequence[Row[Any]]:
        if self._row_cache is not None:
            return read(self.engine, query, values)
        with self.engine.connect() as connection:
            # Not on an engine, which would have a listener then and take longer.
            connection.execution_options(**_SINGLE_QUERY.get(self.engine.dialect.name, {}))
            return connection.execute(query, values).all()

    @contextlib.contextmanager
    def _writer_lock(self) -> Iterator[None]:
        """Hold the process's lock for writers, if the database allows one writer at a time."""
        if self._writers is None:
            yield
            return
        with counted() as most:
            if not self._writers.acquire(timeout=min(BUSY_SECONDS, most)):
                raise DatabaseUnavailableError(NO_ANSWER)
        was_writing, CURRENT_THREAD.is_writing = CURRENT_THREAD.is_writing, True
        try:
            yield
        finally:
            CURRENT_THREAD.is_writing = was_writing
            self._writers.release()

    def timeouts(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Return the timeouts that connections should have and those that one has, by the server's names."""
        with translated(self.engine), self.engine.connect() as connection:
            return self._limits.wanted(), self._limits.read(connection)

    def check(self, *, for_writes: bool = True) -> None:
        """Raise `DatabaseUnavailableError` if the database does not answer a query, or may only be read."""
        with self.reading() as session:
            session.execute(text("SELECT 1"))
        if for_writes:
            require_writable(self.engine)
