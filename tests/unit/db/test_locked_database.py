"""SQLite locked by another program: writers wait for a limited time."""

import sqlite3
import threading
import time

import pytest
from sqlalchemy import event, text

from frepo_core.db import Database, make_engine, transactions
from frepo_core.errors import DatabaseUnavailableError

PATIENCE = 0.5


@pytest.fixture
def path(tmp_path):
    return tmp_path / "frepo.db"


@pytest.fixture
def database(path, monkeypatch):
    monkeypatch.setattr(transactions, "BUSY_SECONDS", PATIENCE)
    engine = make_engine(f"sqlite:///{path}")
    event.listen(engine, "connect", lambda connection, _: connection.execute(f"PRAGMA busy_timeout={PATIENCE * 1000}"))
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
    told = []

    def try_to_write():
        with pytest.raises(DatabaseUnavailableError):
            database.write(write)
        told.append(time.monotonic() - begun)

    begun = time.monotonic()
    writers = [threading.Thread(target=try_to_write) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert (4, True) == (len(told), max(told) < 5 * PATIENCE)


def test_a_writer_waits_for_a_short_lock(database, lock):
    threading.Timer(PATIENCE / 5, lock.rollback).start()

    assert database.write(lambda session: session.execute(text("SELECT 1")).scalar()) == 1


def test_a_writer_looks_for_the_lock_often(database, lock, monkeypatch):
    pauses = []

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 5:
            lock.rollback()

    monkeypatch.setattr("frepo_core.db.sqlite.begin_mode.time.sleep", pause)

    database.write(write)

    assert (5, True) == (len(pauses), max(pauses) < 1e-3)


def test_after_a_wait_other_statements_wait_as_before(database, lock):
    def timeout(session):
        return session.execute(text("PRAGMA busy_timeout")).scalar()

    with pytest.raises(DatabaseUnavailableError):
        database.write(write)
    lock.rollback()

    assert PATIENCE * 1000 == database.write(timeout)
    with database.reading() as session:
        assert PATIENCE * 1000 == timeout(session)
