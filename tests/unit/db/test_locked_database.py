"""SQLite locked by another program: writers wait for a limited time."""

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from sqlalchemy import event, text

from frepo_core.db import Database, make_engine, transactions
from frepo_core.errors import DatabaseUnavailableError

CLOCK = "frepo_core.db.sqlite.begin_mode.time"


@pytest.fixture
def patience():
    """For how long a writer waits, in seconds; tests in which it gets the lock make it long."""
    return 0.5


@pytest.fixture
def path(tmp_path):
    return tmp_path / "frepo.db"


@pytest.fixture
def database(path, monkeypatch, patience):
    monkeypatch.setattr(transactions, "BUSY_SECONDS", patience)
    engine = make_engine(f"sqlite:///{path}")
    event.listen(engine, "connect", lambda connection, _: connection.execute(f"PRAGMA busy_timeout={patience * 1000}"))
    database = Database(engine)
    database.write(write)
    yield database
    engine.dispose()


def write(session):
    session.execute(text("CREATE TABLE IF NOT EXISTS a (b)"))


@pytest.fixture
def lock(database, path):
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN IMMEDIATE")
    yield connection
    connection.close()


def test_all_waiting_writers_fail_within_the_time_limit(database, lock):
    """They wait for the lock of this process at the same time. One after the other, they would take 40 seconds."""

    def try_to_write(_):
        with pytest.raises(DatabaseUnavailableError):
            database.write(write)
        return time.monotonic() - begun

    begun = time.monotonic()
    with ThreadPoolExecutor(80) as threads:
        assert max(threads.map(try_to_write, range(80))) < 20


class TestShortLock:
    @pytest.fixture
    def patience(self):
        return 60

    def test_a_writer_waits_for_a_short_lock(self, database, lock):
        threading.Timer(0.1, lock.rollback).start()

        assert database.write(lambda session: session.execute(text("SELECT 1")).scalar()) == 1

    def test_a_writer_looks_for_the_lock_often(self, database, lock, monkeypatch):
        pauses = []

        def pause(seconds):
            pauses.append(seconds)
            if len(pauses) == 5:
                lock.rollback()

        monkeypatch.setattr(CLOCK, SimpleNamespace(sleep=pause, monotonic=lambda: 7.0))

        database.write(write)

        assert (5, True) == (len(pauses), max(pauses) < 1e-3)


def test_after_a_wait_other_statements_wait_as_before(database, lock, patience):
    def timeout(session):
        return session.execute(text("PRAGMA busy_timeout")).scalar()

    with pytest.raises(DatabaseUnavailableError):
        database.write(write)
    lock.rollback()

    assert patience * 1000 == database.write(timeout)
    with database.reading() as session:
        assert patience * 1000 == timeout(session)
