"""A database outage before, during or at the COMMIT: 503, nothing rotated, nothing lost, automatic recovery."""

import itertools
import sqlite3
import time

import pytest
from sqlalchemy import create_engine, event, text
from sqlalchemy.pool import NullPool
from webtest import TestApp

from frepo_core.errors import DatabaseUnavailableError
from frepo_core.testing.sources import Source
from frepo_core.web import make_app
from support.reliability.database_switch import Switch
from support.reliability.failures import FaultInjection, fails
from support.reliability.invariants import assert_unchanged
from support.reliability.world import services_over
from support.servers import postgresql


@pytest.fixture
def switch(tmp_path):
    if postgresql.MISSING:
        pytest.skip(postgresql.MISSING)
    with postgresql.postgresql(durable=True) as url:
        switch = Switch(url)
        yield switch
        if switch.process:
            switch.off()


@pytest.fixture
def database_url(request, database_url):
    """A separate server for the tests that stop it."""
    return (
        str(request.getfixturevalue("switch").url.render_as_string(False))
        if "switch" in request.fixturenames
        else (database_url)
    )


@pytest.fixture
def services(ini, plugins):
    with services_over(ini, plugins) as services:
        yield services


@pytest.fixture
def collection(world):
    collection = world.collection(2)
    world.push(collection, b"one")
    world.push(collection, b"two")
    return collection


def push_by_web(world, collection):
    app = TestApp(make_app(world.services))
    token = world.ledger.secrets
    admin = next(secret for secret in token if len(secret) == 36)
    return app.post(
        f"/repository/collection/{collection}/backup", b"three", headers={"X-Auth-Token": admin}, status="*"
    )


def test_an_unavailable_database_answers_503_and_recovers_automatically(world, switch, collection):
    before = world.snapshot()
    switch.off()
    reply = push_by_web(world, collection)
    switch.on()
    after = world.snapshot()
    number = world.push(collection, b"three")

    assert (503, "30", 3) == (reply.status_int, reply.headers["Retry-After"], number)
    assert_unchanged(before, after)


def test_a_database_that_stops_during_the_upload_loses_nothing(world, switch, collection):
    before = world.snapshot()
    content = Source(1 << 20).read()
    with pytest.raises(DatabaseUnavailableError):
        world.push(collection, content, stream=Source(1 << 20, at=1 << 19, do=switch.off))
    switch.on()
    assert_unchanged(before, world.snapshot(), orphans=True)

    assert 3 == world.push(collection, content)


def test_a_database_that_stops_at_the_commit_rotates_nothing(world, switch, collection, at_database):
    before = world.snapshot()
    injection = FaultInjection(lambda connection: switch.off(), "COMMIT")
    at_database(injection)
    injection.arm(1)
    with pytest.raises(DatabaseUnavailableError):
        world.push(collection, b"three")
    injection.arm(0)
    switch.on()
    assert_unchanged(before, world.snapshot(), orphans=True)

    assert 3 == world.push(collection, b"three")


@pytest.mark.databases("postgresql")
def test_a_connection_that_is_terminated_at_any_statement_loses_nothing(world, at_database):
    killer = create_engine(world.services.database.engine.url, poolclass=NullPool)

    def terminate(connection):
        pid = connection.connection.dbapi_connection.info.backend_pid
        with killer.connect() as other:
            other.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})

    injection = FaultInjection(terminate)
    at_database(injection)
    for k in itertools.count(1):
        collection = world.collection(1)
        world.push(collection, b"old %d" % k)
        before = world.snapshot()
        injection.arm(k)
        failed = fails(lambda c=collection, k=k: world.push(c, b"new %d" % k))
        happened = injection.happened
        injection.arm(0)
        if failed:
            assert_unchanged(before, world.snapshot(), orphans=True)
        world.check()
        if not happened:
            break
    killer.dispose()

    assert k > 10


def test_a_locked_sqlite_answers_503_and_recovers_automatically(world, services, collection, tmp_path):
    def be_impatient(connection, record):
        connection.execute("PRAGMA busy_timeout = 50")

    event.listen(services.database.engine, "connect", be_impatient)
    services.database.engine.dispose()
    before = world.snapshot()
    other = sqlite3.connect(tmp_path / "frepo.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    started = time.monotonic()
    reply = push_by_web(world, collection)
    took = time.monotonic() - started
    other.execute("ROLLBACK")
    other.close()
    after = world.snapshot()
    number = world.push(collection, b"three")

    assert (503, "30", 3) == (reply.status_int, reply.headers["Retry-After"], number)
    assert took < 30
    assert_unchanged(before, after)
