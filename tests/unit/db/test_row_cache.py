"""The cache of SQLite rows never returns a row after it changed."""

import sqlite3
import threading
import time
from functools import partial

import pytest
from sqlalchemy import bindparam, event, select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from frepo_core.db import Database, make_engine
from frepo_core.db.sqlite import data_version
from frepo_core.db.sqlite.row_cache import MAX_ENTRIES, RowCache

SECONDS = 1


class Base(DeclarativeBase):
    """The models of the test."""


class Note(Base):
    """One row."""

    __tablename__ = "note"

    id: Mapped[int] = mapped_column(primary_key=True)
    value: Mapped[int]


ONE = select(Note.__table__.c.value).where(Note.__table__.c.id == bindparam("id"))


@pytest.fixture(params=["SQLite's functions", "the driver"], autouse=True)
def asked_by(request, monkeypatch):
    """Ask for the data version in both ways."""
    if request.param == "the driver":
        monkeypatch.setattr(data_version, "_load", lambda: None)
    else:
        assert data_version._load() is not None, "Python's driver of Debian and of python.org shows SQLite's functions"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "frepo.db"


@pytest.fixture
def other(path):
    """A connection of another program to the database."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, value INTEGER)")
    connection.execute("INSERT INTO note VALUES (1, 0), (2, 0)")
    yield connection
    connection.close()


@pytest.fixture
def engine(path, other):
    engine = make_engine(f"sqlite:///{path}")
    yield engine
    engine.dispose()


@pytest.fixture
def database(engine):
    return Database(engine)


@pytest.fixture
def asked(engine):
    """The queries that were sent to the database."""
    seen = []
    event.listen(engine, "before_cursor_execute", lambda *arguments: seen.append(arguments[2]))
    return seen


def value(database, number=1):
    return database.fetch_rows(ONE, id=number)[0].value


def test_a_query_is_sent_once(database, asked):
    assert [value(database), value(database), value(database, 2)] == [0, 0, 0]
    assert len(asked) == 2


def test_a_commit_of_this_and_of_another_program_is_visible_at_once(database, other):
    def raise_to(number, session):
        session.get(Note, 1).value = number

    for number in range(1, 20):
        if number % 2:
            other.execute("UPDATE note SET value = ?", [number])
        else:
            database.write(partial(raise_to, number))
        assert value(database) == number


def test_uncommitted_changes_are_not_visible(database, other):
    assert value(database) == 0
    other.execute("BEGIN IMMEDIATE")
    other.execute("UPDATE note SET value = 1")
    assert value(database) == 0
    other.execute("ROLLBACK")

    assert value(database) == 0


def test_a_row_read_before_a_commit_is_not_cached(engine, other):
    remembered = RowCache(engine)

    def overtaken():
        other.execute("UPDATE note SET value = 1")
        return ["old"]

    assert remembered.find("key", overtaken) == ["old"]
    assert remembered.find("key", lambda: ["new"]) == ["new"]


@pytest.mark.costly
def test_a_reader_sees_all_commits_made_before_it_began(database, other):
    committed, late, end = [0], [], time.monotonic() + SECONDS

    def goes_on():
        return time.monotonic() < end or committed[0] <= 20

    def read():
        while goes_on():
            least = committed[0]
            if (found := value(database)) < least:
                late.append((found, least))

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    while goes_on():
        other.execute("UPDATE note SET value = value + 1")
        committed[0] += 1
        time.sleep(0.001)  # gives readers time to fill the cache
    for reader in readers:
        reader.join()

    assert late == []


def test_the_number_of_cached_rows_is_limited(engine):
    remembered = RowCache(engine)
    for key in range(MAX_ENTRIES + 1):
        remembered.find(key, lambda: ["first"])

    assert remembered.find(0, lambda: ["again"]) == ["again"]


def test_the_write_ahead_log_can_be_truncated_between_queries(database, other):
    """A read transaction that stayed open would make it grow without limit."""
    value(database)
    other.execute("UPDATE note SET value = 1")
    value(database)

    assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def test_a_query_waits_for_a_locked_database(engine, other):
    def share_nothing(connection, _):
        connection.execute("PRAGMA journal_mode=DELETE")

    other.execute("PRAGMA journal_mode=DELETE")
    event.listen(engine, "connect", share_nothing)
    database = Database(engine)
    assert value(database) == 0
    other.execute("BEGIN EXCLUSIVE")
    other.execute("UPDATE note SET value = 1")
    threading.Timer(0.2, other.commit).start()

    assert value(database) == 1


def test_a_disposed_engine_has_no_connection_and_can_be_used_again(database, path, other):
    value(database)
    database.engine.dispose()
    assert other.execute("PRAGMA journal_mode=DELETE").fetchone()[0] == "delete"  # no other connection

    assert value(database) == 0


def test_disposing_of_an_engine_clears_the_cache(database, other):
    assert value(database) == 0
    database.engine.dispose()
    other.execute("UPDATE note SET value = 1")

    assert value(database) == 1


def test_a_missing_row_is_not_cached(engine):
    """Clients without a token may ask for a million names of any length."""
    remembered = RowCache(engine)
    answers = iter([[], ["there by now"]])

    assert [remembered.find("key", lambda: next(answers)) for _ in range(2)] == [[], ["there by now"]]


def test_the_cache_takes_no_connection_from_the_pool(engine):
    RowCache(engine).find("key", lambda: ["asked"])

    assert engine.pool.checkedout() == 0
