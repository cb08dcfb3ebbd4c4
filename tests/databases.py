"""The databases that the suites run on: each server is started once, each test finds empty tables."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, make_url, text

from frepo_core.db import make_engine, migrations
from frepo_core.db.models import Base
from servers import mariadb, postgresql

ALL = ("sqlite", "postgresql", "mariadb")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--databases", default=",".join(ALL), help=f"the databases that the suites run on, of {', '.join(ALL)}"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "database_kind" in metafunc.fixturenames:
        metafunc.parametrize("database_kind", metafunc.config.getoption("--databases").split(","), indirect=True)


@pytest.fixture
def database_kind(request: pytest.FixtureRequest) -> str:
    """The database that this test runs on."""
    return str(request.param)


@pytest.fixture
def database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database whose tables are empty, or not made yet."""
    if database_kind == "sqlite":
        return f"sqlite:///{tmp_path}/frepo.db"
    url, engine = request.getfixturevalue(f"{database_kind}_server")
    _empty(engine)
    return str(url)


@pytest.fixture
def fresh_database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database of its own without any table, for tests of the schema itself."""
    if database_kind == "sqlite":
        yield f"sqlite:///{tmp_path}/fresh.db"
        return
    url, engine = request.getfixturevalue(f"{database_kind}_server")
    name = f"fresh_{uuid.uuid4().hex[:12]}"
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
        yield make_url(url).set(database=name).render_as_string(hide_password=False)
        connection.execute(text(f"DROP DATABASE {name}" + (" WITH (FORCE)" if database_kind == "postgresql" else "")))


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[tuple[str, Engine]]:
    if postgresql.MISSING:
        pytest.skip(postgresql.MISSING)
    with postgresql.postgresql() as url:
        yield from _with_tables(url)


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[tuple[str, Engine]]:
    if mariadb.MISSING:
        pytest.skip(mariadb.MISSING)
    with mariadb.mariadb() as url:
        yield from _with_tables(url)


def _with_tables(url: str) -> Iterator[tuple[str, Engine]]:
    engine = make_engine(url)
    migrations.upgrade(engine)
    yield url, engine
    engine.dispose()


def _empty(engine: Engine) -> None:
    with engine.begin() as connection:
        for table in reversed(Base.metadata.sorted_tables):  # faster than to truncate what is small
            connection.execute(table.delete())
