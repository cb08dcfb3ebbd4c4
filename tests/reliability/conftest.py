"""A world on each database, whose invariants are checked at the end of every test."""

import contextlib
import io
import logging
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import event

from frepo_core.db import migrations
from frepo_core.plugins import PluginRegistry
from frepo_core.services.container import Services, assemble
from support.reliability.world import World

BIG = os.environ.get("FREPO_TEST_BIG") == "1"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run on SQLite, and with the mark `on` on the databases that it names."""
    mark = metafunc.definition.get_closest_marker("on")
    if mark and "database_url" in metafunc.fixturenames:
        metafunc.parametrize("database_url", mark.args, indirect=True)


@pytest.fixture
def database_url(request: pytest.FixtureRequest, tmp_path: Any) -> str:
    """The URL of a database whose tables are empty, or not made yet."""
    kind = getattr(request, "param", "sqlite")
    if kind not in request.config.getoption("--databases").split(","):
        pytest.skip(f"{kind} was left out by --databases")
    if kind == "sqlite":
        return f"sqlite:///{tmp_path}/frepo.db"
    return str(request.getfixturevalue(f"{kind}_server").emptied())


@contextlib.contextmanager
def services_over(ini: dict[str, str], plugins: PluginRegistry) -> Iterator[Services]:
    """Services over a database of the test's own, wherever it is."""
    services = assemble(ini, {}, plugins)
    migrations.upgrade(services.database.engine)
    yield services
    services.database.engine.dispose()


@pytest.fixture
def world(services: Services, caplog: pytest.LogCaptureFixture) -> Iterator[World]:
    """A client with a ledger; at the end: sweep without grace, and everything holds."""
    caplog.set_level("DEBUG")
    if services.database.engine.dialect.name == "sqlite":
        event.listen(services.database.engine, "connect", _skip_syncs)
        services.database.engine.dispose()
    said = io.StringIO()  # caplog forgets what was said in the test before this ends
    handler = logging.StreamHandler(said)
    logging.getLogger().addHandler(handler)
    world = World(services)
    yield world
    logging.getLogger().removeHandler(handler)
    world.unwrap()
    world.check(log=said.getvalue())
    world.sweep()
    world.check(swept=True)


def _skip_syncs(connection: Any, record: Any) -> None:
    """A power cut is not what is tested here, and 100 scenarios wait for no disk."""
    connection.execute("PRAGMA synchronous = OFF")


@pytest.fixture
def at_database(services: Services) -> Iterator[Callable[..., None]]:
    """Call `do(what, connection)` before each statement and each COMMIT from now on."""
    listeners: list[tuple[str, Callable[..., None]]] = []

    def listen(do: Callable[[str, Any], None]) -> None:
        def statement(connection: Any, cursor: Any, text: str, *_: Any) -> None:
            do(text, connection)

        def commit(connection: Any) -> None:
            do("COMMIT", connection)

        for name, listener in (("before_cursor_execute", statement), ("commit", commit)):
            event.listen(services.database.engine, name, listener)
            listeners.append((name, listener))

    yield listen
    for name, listener in listeners:
        event.remove(services.database.engine, name, listener)
