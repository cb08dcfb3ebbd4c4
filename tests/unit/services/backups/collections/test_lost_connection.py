"""A new collection whose connection to the database is closed on the server."""

import pytest
from sqlalchemy import create_engine, event, text
from sqlalchemy.pool import NullPool

from frepo_core.domain.roles import Role
from frepo_core.services.backups.rows.collection_change import CollectionChange

END = {"postgresql": "SELECT pg_terminate_backend({}, 5000)", "mariadb": "KILL {}"}
NUMBER = {
    "postgresql": lambda connection: connection.info.backend_pid,
    "mariadb": lambda connection: connection.thread_id(),
}


@pytest.mark.databases("postgresql", "mariadb")
@pytest.mark.parametrize(
    ("roles", "statement"),
    [([], "INSERT INTO collection "), ([Role.CREATE_COLLECTIONS], "INSERT INTO collection_token ")],
)
def test_a_collection_is_made_once_although_the_connection_was_lost(
    services, database_kind, identify, roles, statement
):
    by = identify(*roles) if roles else None  # the console has no token
    other, ended = create_engine(services.database.engine.url, poolclass=NullPool), []

    def end(connection, cursor, executed, *_):
        if executed.startswith(statement) and not ended:
            ended.append(NUMBER[database_kind](connection.connection.dbapi_connection))
            with other.connect() as killer:
                killer.execute(text(END[database_kind].format(ended[0])))

    event.listen(services.database.engine, "after_cursor_execute", end)
    made = services.collections.create(CollectionChange(limits={}, filename="a.sql"), by=by)

    assert (1, made) == (len(ended), services.collections.get(made.id))
