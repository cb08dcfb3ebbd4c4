"""Connections that the database server closes are replaced."""

import contextlib

import pytest
from sqlalchemy import create_engine, insert, select, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from frepo_core.db import engine as engine_module
from frepo_core.db.models import Tag
from frepo_core.errors import DatabaseUnavailableError

FIND_OTHERS = {
    "postgresql": "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    "mariadb": "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()",
}
END = {"postgresql": "SELECT pg_terminate_backend({}, 5000)", "mariadb": "KILL {}"}
BOTH = pytest.mark.databases("postgresql", "mariadb")
TAGS = select(Tag.__table__.c.name)


@pytest.fixture
def end_connections(services, database_kind):
    """Call it to end all connections to the database on its server."""
    other = create_engine(services.database.engine.url, poolclass=NullPool)

    def end():
        with other.connect() as connection:
            for number in connection.scalars(text(FIND_OTHERS[database_kind])).all():
                try:
                    connection.execute(text(END[database_kind].format(number)))
                except OperationalError as error:
                    if "Unknown thread id" not in str(error):  # it has ended by itself
                        raise

    return end


@pytest.fixture
def database(services):
    services.database.write(lambda session: session.add(Tag(name="first")))
    return services.database


@pytest.fixture
def idle(monkeypatch):
    """Let connections count as idle at once."""
    monkeypatch.setattr(engine_module, "FRESH_SECONDS", 0)


def names(database):
    return [row.name for row in database.fetch_rows(TAGS)]


@pytest.mark.usefixtures("idle")
@BOTH
def test_an_idle_connection_that_ended_is_replaced(database, end_connections):
    end_connections()
    assert ["first"] == names(database)

    end_connections()
    database.execute(insert(Tag).values(name="second"))
    assert ["first", "second"] == sorted(names(database))


@BOTH
def test_a_query_whose_connection_ended_is_asked_again(database, end_connections):
    end_connections()

    assert ["first"] == names(database)


@BOTH
def test_a_transaction_whose_connection_ended_is_run_again(database, end_connections):
    attempts = []

    def work(session):
        session.execute(insert(Tag).values(name="second"))
        attempts.append(1)
        if len(attempts) == 1:
            end_connections()
        session.execute(insert(Tag).values(name="third"))

    database.write(work)

    assert (["first", "second", "third"], 2) == (sorted(names(database)), len(attempts))


@BOTH
def test_a_transaction_whose_connection_ended_at_the_commit_is_not_run_again(database, end_connections):
    attempts = []

    def work(session):
        attempts.append(session.execute(insert(Tag).values(name="second")))
        end_connections()

    with pytest.raises(DatabaseUnavailableError):
        database.write(work)

    assert (["first"], 1) == (names(database), len(attempts))


def read_snapshot(database):
    with database.reading(is_snapshot=True) as session:
        session.execute(TAGS).all()


def use_autocommit(database):
    with database.autocommit() as connection:
        connection.execute(TAGS).all()


CALLS = [lambda database: database.execute(insert(Tag).values(name="second")), read_snapshot, use_autocommit]


@pytest.mark.costly
@BOTH
@pytest.mark.parametrize("is_pinged", [True, False])
@pytest.mark.parametrize("call", CALLS)
def test_a_connection_that_ended_a_moment_ago_is_a_503_at_most(database, end_connections, monkeypatch, call, is_pinged):
    if not is_pinged:
        monkeypatch.setattr(type(database.engine.dialect), "do_ping", lambda *_: True)
    end_connections()

    with contextlib.suppress(DatabaseUnavailableError):
        call(database)
    assert "first" in names(database)


@pytest.mark.databases("postgresql")
def test_each_query_is_planned_for_its_own_values(database):
    for _ in range(20):
        names(database)

    with database.engine.connect() as connection:
        assert 0 == connection.scalar(text("SELECT count(*) FROM pg_prepared_statements"))
