"""Transactions that only read, and single statements that write."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from transaction.interfaces import TransactionError

from frepo_core.db import utc_now
from frepo_core.db.models import Tag
from frepo_core.errors import DatabaseUnavailableError
from support.databases import database_url  # noqa: F401  # one database for all, in place of one for each

pytestmark = pytest.mark.databases


def test_a_snapshot_does_not_show_what_others_commit(services):
    query = select(func.count()).select_from(Tag)
    with services.database.reading(is_snapshot=True) as session:
        before = session.scalar(query)
        services.database.write(lambda writer: writer.add(Tag(name="new")))
        after = session.scalar(query)

    assert before == after == 0


def test_a_transaction_after_a_snapshot_shows_it(services):
    query = select(func.count()).select_from(Tag)
    with services.database.reading(is_snapshot=True) as session:
        session.scalar(query)
    with services.database.reading() as session:
        session.scalar(query)
        services.database.write(lambda writer: writer.add(Tag(name="new")))

    with services.database.reading() as session:
        assert 1 == session.scalar(query)


def test_a_single_statement_is_committed_and_returns_the_number_of_its_rows(services):
    database = services.database

    database.execute(insert(Tag).values(name="a"))
    assert 1 == database.execute(update(Tag).where(Tag.name == "a").values(name="b"))
    assert 0 == database.execute(update(Tag).where(Tag.name == "a").values(name="c"))
    with database.reading() as session:
        assert ["b"] == list(session.scalars(select(Tag.name)))


def test_an_update_that_changes_nothing_counts_the_rows_that_it_found(services):
    services.database.execute(insert(Tag).values(name="a"))

    assert 1 == services.database.execute(update(Tag).where(Tag.name == "a").values(name="a"))


def test_a_conflict_of_a_single_statement_is_raised(services):
    services.database.execute(insert(Tag).values(name="a"))

    with pytest.raises(IntegrityError):
        services.database.execute(insert(Tag).values(name="a"))


@pytest.mark.databases("postgresql", "mariadb")
def test_a_single_statement_is_repeated_after_a_deadlock(services):
    """It waits first, and has changed less: the databases end it."""
    database = services.database
    database.execute(insert(Tag).values([{"name": "a"}, {"name": "b"}]))
    every = update(Tag).where(Tag.name.in_(["a", "b"])).values(name=func.concat(Tag.name, "1"))

    with Session(database.engine) as other, ThreadPoolExecutor() as executor:
        other.execute(insert(Tag).values([{"name": f"more {number}"} for number in range(100)]))
        other.execute(update(Tag).where(Tag.name == "b").values(name="c"))
        changed = executor.submit(database.execute, every)
        time.sleep(0.5)  # until it has the lock of a, and waits for that of b
        other.execute(update(Tag).where(Tag.name == "a").values(name="b"))
        other.commit()

        assert 1 == changed.result(60)
    with database.reading() as session:
        assert ["b1", "c"] == list(session.scalars(select(Tag.name).where(Tag.name.not_like("more%")).order_by(Tag.id)))


def test_the_clock_of_the_database_is_aware_and_right(services):
    difference = services.database.now() - utc_now()

    assert abs(difference.total_seconds()) < 60


def test_a_commit_is_announced_and_a_rollback_is_not(services):
    commits = []
    services.database.on_commit = lambda: commits.append(1)
    services.database.write(lambda session: session.add(Tag(name="a")))
    assert [1] == commits

    with pytest.raises(ZeroDivisionError):
        services.database.write(lambda session: 1 // 0)

    assert [1] == commits


@pytest.mark.databases("sqlite")
def test_conflicts_until_the_time_is_over_are_no_bug_of_the_service(services, monkeypatch):
    monkeypatch.setattr("frepo_core.db.transactions.BUSY_SECONDS", 0)
    services.database.execute(insert(Tag).values(name="taken"))

    with pytest.raises(DatabaseUnavailableError, match="Too many others"):
        services.database.write(lambda session: session.add(Tag(name="taken")))


@pytest.mark.databases("sqlite")
def test_a_thread_can_write_after_a_conflict_at_each_attempt_to_commit(services):
    """The transaction of the last attempt is ended, too."""
    services.database.execute(insert(Tag).values(name="taken"))
    with pytest.raises(IntegrityError):
        services.database.write(lambda session: session.add(Tag(name="taken")))

    services.database.write(lambda session: session.add(Tag(name="free")))


def test_a_thread_has_one_transaction_that_writes(services):
    write = services.database.write
    with pytest.raises(TransactionError):
        write(lambda session: write(lambda inner: inner.add(Tag(name="inner"))))
    write(lambda session: session.add(Tag(name="after")))

    with services.database.reading() as session:
        assert ["after"] == list(session.scalars(select(Tag.name)))


def test_a_change_of_a_row_that_is_gone_is_tried_again(services):
    services.database.write(lambda session: session.add(Tag(name="a")))
    tried = []

    def rename(session):
        tag = session.scalar(select(Tag))
        tried.append(tag.name)
        if len(tried) == 1:
            session.connection().execute(delete(Tag.__table__))
        tag.name = "b"

    services.database.write(rename)

    assert ["a", "a"] == tried
