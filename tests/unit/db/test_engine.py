"""Database URLs: common spellings are accepted, others are refused with a helpful message."""

import os

import pytest
from sqlalchemy import literal, select
from sqlalchemy.exc import OperationalError

from frepo_core.db import Database, make_engine
from frepo_core.db.engine import normalize_url
from frepo_core.errors import ConfigurationError
from support.databases import QuickEngines


def test_each_database_has_one_driver():
    for text, driver in [
        ("sqlite:////srv/frepo.db", "sqlite"),
        ("pdo_sqlite:////srv/frepo.db", "sqlite"),
        ("postgres://u:p@h/d", "postgresql+psycopg"),
        ("postgresql://u:p@h/d", "postgresql+psycopg"),
        ("pgsql://u:p@h/d", "postgresql+psycopg"),
        ("pdo_pgsql://u:p@h/d", "postgresql+psycopg"),
        ("POSTGRES://u:p@h/d", "postgresql+psycopg"),
        ("mysql://u:p@h/d", "mysql+pymysql"),
        ("mariadb://u:p@h/d", "mysql+pymysql"),
        ("pdo_mysql://u:p@h/d", "mysql+pymysql"),
        ("mysql+pymysql://u:p@h/d", "mysql+pymysql"),
        ("postgresql+psycopg://u:p@h/d", "postgresql+psycopg"),
    ]:
        assert driver == normalize_url(text).drivername


def test_a_configured_driver_overrides_the_urls():
    for driver, expected in [
        ("pdo_mysql", "mysql+pymysql"),
        ("pdo_pgsql", "postgresql+psycopg"),
        ("mysql", "mysql+pymysql"),
        ("", "sqlite"),
    ]:
        assert expected == normalize_url("sqlite:////srv/frepo.db", driver).drivername


def test_the_rest_of_the_url_stays_as_it_is():
    url = normalize_url("postgres://us%40er:p%2Fw@db.example.org:5433/frepo?sslmode=require")

    assert ("us@er", "p/w", "db.example.org", 5433, "frepo", {"sslmode": "require"}) == (
        url.username,
        url.password,
        url.host,
        url.port,
        url.database,
        dict(url.query),
    )


def test_mariadb_uses_utf8mb4_and_nothing_is_connected_when_the_engine_is_made():
    assert normalize_url("mysql://u:p@h/d").query["charset"] == "utf8mb4"
    assert make_engine("postgresql://u:p@192.0.2.1:1/d").dialect.name == "postgresql"


def test_an_invalid_url_is_reported_without_its_value():
    for text in ["", "frepo.db", "/srv/frepo.db", "postgres:u:hunter2@h", "postgres://u:hunter2@h:port/d"]:
        with pytest.raises(ConfigurationError) as caught:
            make_engine(text)

        assert (True, False) == ("database.url (DATABASE_URL)" in str(caught.value), "hunter2" in str(caught.value))


def test_an_unsupported_database_is_refused_and_the_supported_ones_named():
    for text in ["oracle://u:hunter2@h/d", "mssql+pyodbc://u:hunter2@h/d", "mongodb://u:hunter2@h/d"]:
        with pytest.raises(ConfigurationError, match="sqlite, postgresql, mysql and mariadb") as caught:
            make_engine(text)

        assert "hunter2" not in str(caught.value)


def test_an_unknown_driver_is_reported():
    for driver in ["postgresql+surely_not", "sqlite+surely_not", "mysql+surely_not"]:
        with pytest.raises(ConfigurationError, match=r"surely_not"):
            make_engine("sqlite:////srv/frepo.db", driver)
            pytest.fail(repr(driver))


def test_a_database_in_memory_is_refused():
    for text in [
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///file::memory:?uri=true",
        "sqlite:///file:frepo?mode=memory&cache=shared&uri=true",
    ]:
        with pytest.raises(ConfigurationError, match="SQLite needs a file"):
            make_engine(text)
            pytest.fail(repr(text))


def test_a_server_without_a_database_is_refused():
    for text in ["mysql://u:hunter2@h", "mysql://u:hunter2@h/", "mariadb+pymysql://u:hunter2@h"]:
        with pytest.raises(ConfigurationError, match="names no database") as caught:
            make_engine(text)

        assert "hunter2" not in str(caught.value)


def test_sqlite_is_set_up_for_a_service(tmp_path):
    engine = make_engine(f"sqlite:///{tmp_path}/frepo.db")
    pragmas = {"foreign_keys": 1, "journal_mode": "wal", "synchronous": 2, "busy_timeout": 15_000}
    with engine.connect() as connection:
        found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas}
    engine.dispose()
    assert pragmas == found


@pytest.mark.parametrize(("option", "second_may_write"), [({}, False), ({"sqlite_begin": "DEFERRED"}, True)])
def test_a_transaction_of_sqlite_takes_the_writers_lock_at_its_start(tmp_path, option, second_may_write):
    engine = make_engine(f"sqlite:///{tmp_path}/frepo.db")
    with engine.connect().execution_options(**option) as first, engine.connect() as second:
        first.begin()
        second.connection.execute("PRAGMA busy_timeout=0")
        try:
            second.begin()
            has_begun = True
        except OperationalError:
            has_begun = False
    with engine.connect() as third:
        in_transaction = third.exec_driver_sql("SELECT 1").connection.connection.in_transaction
    engine.dispose()

    assert (second_may_write, True) == (has_begun, in_transaction)


def test_a_database_on_sqlite_has_no_listener_to_statements(tmp_path):
    """With one, SQLAlchemy takes a tenth longer for an upload."""
    engine = make_engine(f"sqlite:///{tmp_path}/frepo.db")
    Database(engine)

    assert not engine._has_events


def test_no_value_of_a_statement_is_logged(tmp_path, caplog):
    caplog.set_level("INFO", logger="sqlalchemy.engine")
    engine = make_engine(f"sqlite:///{tmp_path}/a.db")
    with engine.connect() as connection:
        connection.execute(select(literal("a secret")))
    engine.dispose()

    assert ("SELECT ?" in caplog.text, "a secret" in caplog.text) == (True, False)


def test_the_engines_of_tests_share_no_dialect_that_has_not_met_its_database(tmp_path):
    quick = QuickEngines()
    quick.make(f"sqlite:///{tmp_path}/never_opened.db")
    engine = quick.make(f"sqlite:///{tmp_path}/a.db")
    engine.connect().close()
    engine.dispose()

    assert engine.dialect.server_version_info is not None
    assert engine.dialect is quick.make(f"sqlite:///{tmp_path}/b.db").dialect


def test_the_files_of_an_sqlite_database_are_for_their_owner_alone(tmp_path):
    before = os.umask(0)
    try:
        for number, url in enumerate(("sqlite:///{}", "sqlite:///file:{}?uri=true")):
            path = tmp_path / f"{number}.db"
            with make_engine(url.format(path)).connect() as connection:
                connection.exec_driver_sql("CREATE TABLE a (b)")
                connection.exec_driver_sql("INSERT INTO a VALUES (1)")
                found = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.glob(f"{number}.*")}
                assert dict.fromkeys((path.name, f"{path.name}-wal", f"{path.name}-shm"), 0o600) == found
    finally:
        os.umask(before)


def test_an_sqlite_database_keeps_the_rights_that_it_has(tmp_path):
    path = tmp_path / "frepo.db"
    path.touch()
    path.chmod(0o640)

    with make_engine(f"sqlite:///{path}").connect():
        assert 0o640 == path.stat().st_mode & 0o777
