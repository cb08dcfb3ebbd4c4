"""Fixtures: a world on each database, whose invariants are checked at the end of every test."""

import io
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import event

from frepo_core.services.composition.container import Services
from support.reliability.world import World


@pytest.fixture
def world(services: Services, caplog: pytest.LogCaptureFixture) -> Iterator[World]:
    """A client with a ledger; after the test, a sweep without grace period, then all invariants are checked."""
    caplog.set_level("DEBUG")
    if services.database.engine.dialect.name == "sqlite":
        event.listen(services.database.engine, "connect", _skip_syncs)
        services.database.engine.dispose()
    said = io.StringIO()  # caplog drops the test's records before this fixture ends
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
    """Skip fsync: these tests do not simulate power cuts, and 100 scenarios would wait for the disk."""
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
