"""Statements of the driver do what they do through SQLAlchemy."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import bindparam, select, update
from sqlalchemy.exc import IntegrityError

from frepo_core.db.models import Base, Event, Tag
from frepo_core.db.prepared_statements import change, fetch, insert
from frepo_core.db.row_inserts import insert_of
from support.databases import database_url  # noqa: F401  # one database for all, in place of one for each

pytestmark = pytest.mark.databases

EVENT, TAG = (Base.metadata.tables[model.__tablename__] for model in (Event, Tag))
# With a constant of its own next to the value of each call.
OF_KIND = select(EVENT).where(EVENT.c.kind == bindparam("kind"), EVENT.c.actor == "someone")
INSERT_EVENT, INSERT_TAG = insert_of(Event), insert_of(Tag)
RENAME = update(TAG).where(TAG.c.name == bindparam("before")).values(name=bindparam("after"))
VALUES = {
    "at": datetime(2026, 11, 29, 8, 30, 15, 123456, tzinfo=UTC),
    "kind": "file.added",
    "actor": "someone",
    "data": {"name": "Zoë", "sizes": [1, 2]},
}


def in_transaction(services, work):
    return services.database.write(lambda session: work(session.connection()))


def test_rows_are_those_that_sqlalchemy_returns(services):
    def work(connection):
        key = insert(connection, INSERT_EVENT, VALUES)
        insert(connection, INSERT_EVENT, {**VALUES, "actor": "another"})
        values = {"kind": "file.added"}
        return key, fetch(connection, OF_KIND, values), connection.execute(OF_KIND, values).all()

    key, rows, same = in_transaction(services, work)

    assert not services.database.engine._has_events, "nobody listens, so SQLite's driver runs them"
    assert rows == same
    (row,) = rows
    assert row._fields == same[0]._fields
    assert (key, VALUES["at"], VALUES["data"], None) == (row.id, row.at, row.data, row.file_id)


def test_a_change_returns_the_number_of_its_rows(services):
    def work(connection):
        insert(connection, INSERT_TAG, {"name": "a"})
        return [change(connection, RENAME, {"before": "a", "after": "b"}) for _ in range(2)]

    assert [1, 0] == in_transaction(services, work)


def test_an_error_of_the_driver_is_that_of_sqlalchemy_and_rolls_back(services):
    def work(connection):
        insert(connection, INSERT_TAG, {"name": "a"})
        insert(connection, INSERT_TAG, {"name": "a"})

    with pytest.raises(IntegrityError):
        in_transaction(services, work)
    with services.database.reading() as session:
        assert [] == session.scalars(select(Tag.name)).all()
