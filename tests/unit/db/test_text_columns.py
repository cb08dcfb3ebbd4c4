"""MariaDB in its own default character set, latin1, stores every text after an upgrade."""

import uuid

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import DBAPIError

from frepo_core.db import make_engine, migrations
from frepo_core.db.text_columns import find_narrow_text, widen_columns, widen_default
from frepo_core.errors import ConfigurationError
from support.reliability.upgrades import schema_differences, upgrade_to

pytestmark = pytest.mark.databases("mariadb")
BEFORE, WIDENED = "0043", "0044"
FOREIGN = "błąd 🐘"


@pytest.fixture(params=["latin1", "utf8mb4", "utf8mb3"])
def engine(request, database_kind, mariadb_server):
    """An engine of an empty database with this default."""
    url, name = make_url(mariadb_server.emptied()), f"text_{uuid.uuid4().hex[:12]}"
    with mariadb_server.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"CREATE DATABASE {name} CHARACTER SET {request.param}"))
        engine = make_engine(url.set(database=name).render_as_string(hide_password=False))
        engine.charset = request.param
        yield engine
        engine.dispose()
        connection.execute(text(f"DROP DATABASE {name}"))


def columns(engine):
    """Return the character set, the collation, the default and the nullability of each text column, by its name."""
    query = (
        "SELECT CONCAT(table_name, '.', column_name), character_set_name, collation_name, column_default, is_nullable, "
        "column_type FROM information_schema.columns WHERE table_schema = DATABASE() AND character_set_name IS NOT NULL"
    )
    with engine.connect() as connection:
        return {row[0]: tuple(row[1:]) for row in connection.execute(text(query))}


def add_alias(engine, name, target):
    with engine.begin() as connection:
        values = {"name": name, "target": target}
        connection.execute(text("INSERT INTO label_test (name, target) VALUES (:name, :target)"), values)


def test_a_new_database_stores_every_text(engine):
    migrations.upgrade(engine)

    found = columns(engine)
    assert {"utf8mb4"} == {charset for charset, *_ in found.values()}
    assert "utf8mb4_bin" == found["token.name"][1]
    assert [] == schema_differences(engine)
    with engine.connect() as connection:
        assert ((), None) == (tuple(find_narrow_text(connection).columns), find_narrow_text(connection).default)


def test_an_upgrade_widens_each_text_column_and_changes_nothing_else(engine):
    upgrade_to(engine, BEFORE)
    with engine.begin() as connection:
        connection.execute(
            text(
                "CREATE TABLE label_test (name VARCHAR(9) COLLATE utf8mb4_bin PRIMARY KEY, "
                "target VARCHAR(20) NOT NULL DEFAULT 'it''s 5 % (a), b')"
            )
        )
        for name in ("a", "A"):
            connection.execute(text("INSERT INTO label_test (name, target) VALUES (:name, 'é')"), {"name": name})
    before = columns(engine)

    upgrade_to(engine, WIDENED)

    after = columns(engine)
    assert {name: values[2:] for name, values in before.items()} == {
        name: values[2:] for name, values in after.items() if name in before
    }
    assert {name for name, values in before.items() if values[1] == "utf8mb4_bin"} == {
        name for name, values in after.items() if values[1] == "utf8mb4_bin" and name in before
    }
    assert {"utf8mb4"} == {values[0] for values in after.values()}
    migrations.upgrade(engine)
    assert [] == [one for one in schema_differences(engine) if "label_test" not in str(one)]
    add_alias(engine, "b", FOREIGN)
    with engine.connect() as connection:
        rows = [tuple(row) for row in connection.execute(text("SELECT name, target FROM label_test ORDER BY name"))]
    assert [("A", "é"), ("a", "é"), ("b", FOREIGN)] == rows


def test_a_repetition_goes_on_where_it_was(engine):
    upgrade_to(engine, BEFORE)
    with engine.begin() as connection:
        widen_default(connection)
        narrow = find_narrow_text(connection).columns
        widen_columns(connection)
        widen_columns(connection)
        assert [] == list(find_narrow_text(connection).columns)
        assert bool(narrow) == (engine.charset != "utf8mb4")
        assert 1 == connection.exec_driver_sql("SELECT @@foreign_key_checks").scalar()


def test_without_the_right_the_command_for_the_administrator_is_named(engine, mariadb_server):
    if engine.charset == "utf8mb4":
        return
    name = f"u{uuid.uuid4().hex[:12]}"
    rights = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, INDEX, REFERENCES"
    with mariadb_server.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"CREATE USER '{name}'@'127.0.0.1' IDENTIFIED BY 'x5ecre7x'"))
        connection.execute(text(f"GRANT {rights} ON {engine.url.database}.* TO '{name}'@'127.0.0.1'"))
    limited = make_engine(engine.url.set(username=name, password="x5ecre7x").render_as_string(hide_password=False))

    with pytest.raises(ConfigurationError, match=rf"ALTER DATABASE `{engine.url.database}` CHARACTER SET utf8mb4"):
        migrations.upgrade(limited)

    limited.dispose()


def test_what_is_too_narrow_is_known(engine):
    upgrade_to(engine, BEFORE)

    with engine.connect() as connection:
        narrow = find_narrow_text(connection)

    assert (engine.charset != "utf8mb4") == ("run.error_output" in narrow.columns)
    assert (None if engine.charset == "utf8mb4" else engine.charset) == narrow.default
    assert "token.name" not in narrow.columns
    if engine.charset == "latin1":
        with pytest.raises(DBAPIError), engine.begin() as connection:
            connection.execute(text("CREATE TABLE narrow_test (a TEXT)"))
            connection.execute(text("INSERT INTO narrow_test VALUES (:a)"), {"a": FOREIGN})
