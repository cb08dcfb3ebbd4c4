"""The databases of the test suites: each server starts once, and each test begins with empty tables."""

import uuid
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, make_url, text
from sqlalchemy.exc import OperationalError

from frepo_core.db import make_engine, migrations
from frepo_core.db.models import Base
from support.required import is_required
from support.scale import IS_ALL, IS_BIG
from support.servers import mariadb, postgresql

ALL = ("sqlite", "postgresql", "mariadb")
MISSING = {"sqlite": None, "postgresql": postgresql.MISSING, "mariadb": mariadb.MISSING}
OF_DATABASES = ("tests/unit/db/", "tests/reliability/databases/")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--databases", help=f"the databases that the suites run on, of {', '.join(ALL)}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test on SQLite, or on the databases that its mark `databases` names, or on several if it names none."""
    mark = metafunc.definition.get_closest_marker("databases")
    if mark and "database_kind" in metafunc.fixturenames:
        if unknown := set(mark.args) - set(ALL):
            raise pytest.UsageError(f"{metafunc.definition.nodeid}: unknown databases {sorted(unknown)}, known: {ALL}")
        given = metafunc.config.getoption("--databases")
        chosen = given.split(",") if given else ALL
        kinds = [kind for kind in mark.args or (ALL if given else _usual(metafunc)) if kind in chosen]
        metafunc.parametrize("database_kind", kinds, indirect=True)


def _usual(metafunc: pytest.Metafunc) -> tuple[str, ...]:
    """Return one of them by the test's name in the short form, otherwise SQLite and one more; all in the long form.

    A test of the databases themselves has one more in the short form, and all otherwise. A server that is missing is
    left to others: SQLite takes its part, unless CI requires it.
    """
    test = metafunc.definition.nodeid.partition("[")[0]
    number, is_of_databases = zlib.crc32(test.encode()), test.startswith(OF_DATABASES)
    if IS_BIG or (IS_ALL and is_of_databases):
        return ALL
    if IS_ALL or is_of_databases:
        return ALL[0], ALL[1 + number % 2]
    one = ALL[number % 3]
    return (ALL[0] if MISSING[one] and not is_required() else one,)


@pytest.fixture
def database_kind(request: pytest.FixtureRequest) -> str:
    """The database that this test runs on."""
    return str(getattr(request, "param", "sqlite"))


@pytest.fixture
def database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database whose tables are empty or do not exist yet."""
    if database_kind == "sqlite":
        return f"sqlite:///{tmp_path}/frepo.db"
    return str(request.getfixturevalue(f"{database_kind}_server").emptied())


@pytest.fixture
def fresh_database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a new database without tables, for tests of the schema."""
    if database_kind == "sqlite":
        yield f"sqlite:///{tmp_path}/fresh.db"
        return
    with request.getfixturevalue(f"{database_kind}_server").fresh() as url:
        yield url


class Server:
    """A server with frepo's tables that tests use one after the other; `engines` maps URLs to engines.

    A crashed server is restarted: MariaDB 10.11 crashes now and then, and the later tests must not fail for it.
    """

    def __init__(self, start: Callable[[], AbstractContextManager[str]], engines: dict[str, Engine]) -> None:
        self._start, self._engines = start, engines
        self._running = ExitStack()
        self._restart()

    def emptied(self) -> str:
        """Return the URL of the database, whose tables are empty."""
        try:
            _empty(self.engine)
        except OperationalError:
            self._restart()
        return self.url

    @contextmanager
    def fresh(self) -> Iterator[str]:
        """Make a database without tables; return its URL."""
        url = make_url(self.emptied())
        name = f"fresh_{uuid.uuid4().hex[:12]}"
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            charset = " CHARACTER SET utf8mb4" if url.get_backend_name() == "mysql" else ""
            connection.execute(text(f"CREATE DATABASE {name}{charset}"))
            yield url.set(database=name).render_as_string(hide_password=False)
            forced = " WITH (FORCE)" if url.get_backend_name() == "postgresql" else ""
            connection.execute(text(f"DROP DATABASE {name}{forced}"))

    def stop(self) -> None:
        self._running.close()

    def _restart(self) -> None:
        self.stop()
        self.url = self._running.enter_context(self._start())
        self.engine = make_engine(self.url)
        self._running.callback(self.engine.dispose)
        migrations.upgrade(self.engine)
        self._engines[self.url] = self.engine
        self._running.callback(self._engines.pop, self.url)


class QuickEngines:
    """Makes engines that share, for SQLite, a dialect and what it compiled.

    Their commits are real, but not synced: that commits survive a power cut is the live suite's affair.
    """

    def __init__(self) -> None:
        self._dialect: Any = None
        self._compiled: dict[Any, Any] = {}

    def make(self, url: str, *more: Any) -> Engine:
        engine = make_engine(url, *more)
        if engine.dialect.name == "sqlite":
            if self._dialect is not None:
                engine.dialect = self._dialect
            event.listen(engine, "connect", partial(self._note_connection, engine.dialect))
            engine.update_execution_options(compiled_cache=self._compiled)
        return engine

    def _note_connection(self, dialect: Any, connection: Any, record: Any) -> None:
        connection.execute("PRAGMA synchronous = OFF")
        self._dialect = self._dialect or dialect  # not before: it learns the version of SQLite from a connection


@pytest.fixture(scope="session")
def make_quick_engine() -> Callable[..., Engine]:
    return QuickEngines().make


@pytest.fixture(scope="session")
def engines() -> dict[str, Engine]:
    """The engines of databases that have frepo's tables, by their URLs.

    With a new engine, each test would connect, inspect the schema and compile each statement again.
    """
    return {}


@pytest.fixture(scope="session")
def postgresql_server(engines: dict[str, Engine]) -> Iterator[Server]:
    if postgresql.MISSING:
        pytest.skip(postgresql.MISSING)
    server = Server(postgresql.postgresql, engines)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def mariadb_server(engines: dict[str, Engine]) -> Iterator[Server]:
    if mariadb.MISSING:
        pytest.skip(mariadb.MISSING)
    server = Server(mariadb.mariadb, engines)
    yield server
    server.stop()


def _empty(engine: Engine) -> None:
    with engine.begin() as connection:
        for table in reversed(Base.metadata.sorted_tables):  # faster than TRUNCATE for small tables
            own = [key.parent for key in table.foreign_keys if key.column.table is table]
            if own:  # MariaDB compares them row by row
                connection.execute(table.update().values(dict.fromkeys(own)))
            connection.execute(table.delete())
