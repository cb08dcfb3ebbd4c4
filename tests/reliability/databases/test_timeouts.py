"""The timeouts of connections to a server: what a frozen host had locked becomes free, and nobody waits for ever."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest
from sqlalchemy import insert, select, text, update
from sqlalchemy.orm import Session

from frepo_core.db import Database, Timeouts, make_engine, migrations
from frepo_core.db.models import Tag
from frepo_core.db.waiting.patience import waiting_at_most
from frepo_core.errors import DatabaseUnavailableError

pytestmark = pytest.mark.databases("postgresql", "mariadb")
CHANGE = update(Tag).where(Tag.name == "a").values(name="a")
SHOW = {
    "postgresql": "SELECT current_setting('{}')",
    "mariadb": "SELECT @@{}",
}
STATEMENT = {"postgresql": "statement_timeout", "mariadb": "max_statement_time"}
LOCK = {"postgresql": "lock_timeout", "mariadb": "innodb_lock_wait_timeout"}
SLEEP = {"postgresql": "SELECT pg_sleep(2)", "mariadb": "SELECT SLEEP(2) FROM tag"}
HOST = """
import sys, time
from sqlalchemy import text
from frepo_core.db import Database, Timeouts, make_engine
def work(session):
    session.execute(text("SELECT * FROM tag WHERE name = 'a' FOR UPDATE")).all()
    print("locked", flush=True)
    time.sleep(600)
Database(make_engine(sys.argv[1], timeouts=Timeouts(idle=1))).write(work)
"""


@pytest.fixture
def open_database(database_url):
    """Make a database whose connections have these timeouts."""
    with contextlib.ExitStack() as stack:

        def make(**seconds):
            database = Database(make_engine(database_url, timeouts=Timeouts(**seconds)))
            stack.callback(database.engine.dispose)
            return database

        yield make


@pytest.fixture
def frozen_host(database_url, open_database):
    """Another process that is stopped in a transaction in which it has locked a row."""
    open_database().execute(insert(Tag).values(name="a"))
    with subprocess.Popen([sys.executable, "-c", HOST, database_url], stdout=subprocess.PIPE) as host:
        assert host.stdout.readline() == b"locked\n"
        os.kill(host.pid, signal.SIGSTOP)
        yield host
        host.kill()


@pytest.mark.usefixtures("frozen_host")
def test_what_a_frozen_host_has_locked_becomes_free(open_database):
    database = open_database(lock=20)

    database.write(lambda session: session.execute(CHANGE))

    assert ["a"] == [row.name for row in database.fetch_rows(select(Tag.__table__.c.name))]


def test_a_change_does_not_wait_for_ever_for_a_lock(open_database):
    database = open_database(lock=1)
    database.execute(insert(Tag).values(name="a"))

    with Session(database.engine) as other:
        other.execute(CHANGE)
        with pytest.raises(DatabaseUnavailableError, match="changes the same"):
            database.write(lambda session: session.execute(CHANGE))

    assert 1 == database.execute(CHANGE)


def test_a_statement_of_a_request_has_a_limit_and_one_of_a_job_has_none(open_database, database_kind):
    database = open_database(statement=1, idle=1)
    database.execute(insert(Tag).values(name="a"))
    slow = text(SLEEP[database_kind])

    with waiting_at_most(20), pytest.raises(DatabaseUnavailableError):
        database.write(lambda session: session.execute(slow).all())
    with waiting_at_most(20), pytest.raises(DatabaseUnavailableError), database.reading() as session:
        session.execute(slow).all()
    database.write(lambda session: session.execute(slow).all())
    with database.reading() as session:
        session.execute(slow).all()


def test_a_job_and_a_migration_leave_the_limits_to_the_next_request(open_database, database_kind):
    database = open_database(statement=7, idle=7, lock=7)
    names = LOCK[database_kind], STATEMENT[database_kind]

    def limits(session):
        values = [session.execute(text(SHOW[database_kind].format(name))).scalar() for name in names]
        return [float(str(value).removesuffix("s")) for value in values]

    with database.reading() as session:
        of_job = limits(session)
    migrations.upgrade(database.engine)
    with waiting_at_most(20), database.reading() as session:
        of_request = limits(session)

    assert ([7, 0], [7, 7]) == (of_job, of_request)


def test_a_host_that_does_not_answer_is_noticed(open_database):
    database = open_database(network=8)

    with database.autocommit() as connection:
        driver = connection.connection.dbapi_connection
        descriptor = driver.fileno() if hasattr(driver, "fileno") else driver._sock.fileno()
        options = socket_options(descriptor)

    assert {"TCP_KEEPIDLE": 2, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 8000} == options


def socket_options(descriptor):
    import socket

    with socket.socket(fileno=os.dup(descriptor)) as connection:
        names = "TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT"
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        return {name: connection.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in names}
