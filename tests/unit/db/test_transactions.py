"""Transactions that only read."""

import pytest
from sqlalchemy import func, select

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
