"""Transactions that only read, and single statements that write."""

import pytest
from sqlalchemy import func, insert, select, update
from sqlalchemy.exc import IntegrityError

from frepo_core.db import utc_now
from frepo_core.db.models import Tag

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


def test_the_clock_of_the_database_is_aware_and_right(services):
    difference = services.database.now() - utc_now()

    assert abs(difference.total_seconds()) < 5


def test_a_commit_is_announced_and_a_rollback_is_not(services):
    commits = []
    services.database.on_commit = lambda: commits.append(1)
    services.database.write(lambda session: session.add(Tag(name="a")))
    assert [1] == commits

    with pytest.raises(ZeroDivisionError):
        services.database.write(lambda session: 1 // 0)

    assert [1] == commits


@pytest.mark.databases("sqlite")
def test_a_thread_can_write_after_a_conflict_at_each_attempt_to_commit(services):
    """The transaction of the last attempt is ended, too."""
    services.database.execute(insert(Tag).values(name="taken"))
    with pytest.raises(IntegrityError):
        services.database.write(lambda session: session.add(Tag(name="taken")))

    services.database.write(lambda session: session.add(Tag(name="free")))
