"""An upgrade that is killed at any statement: the next one completes it, and no row is lost."""

import signal
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import event, insert, inspect, select, text

from frepo_core.db import make_engine, migrations, name_index, utc_now
from frepo_core.db.models import Base, Token
from frepo_core.errors import ConfigurationError
from support.databases import ALL
from support.reliability.upgrades import upgrade_to
from support.scale import IS_ALL, IS_BIG
from support.servers.fork_server import ForkedProcess

# PostgreSQL takes back the changes of the schema; the others keep what was done before the kill.
pytestmark = pytest.mark.databases(*(ALL if IS_BIG else ("sqlite", "mariadb") if IS_ALL else ("sqlite",)))

# From nothing, and at each statement, only in the full form. The short form kills at a few, however many there are.
STARTS, KILLS = (["nothing", "0001"], 10_000) if IS_BIG else (["0001"], 6)
KILLED = -signal.SIGKILL
ROW = {
    "key": "k" * 64,
    "fingerprint": "f",
    "roles": ["upload.all"],
    "tags": [],
    "mimes": [],
    "max_file_size": 0,
    "user_agents": [],
    "ip_addresses": [],
}


@pytest.fixture
def engine(fresh_database_url):
    engine = make_engine(fresh_database_url)
    yield engine
    engine.dispose()


def drop_everything(engine):
    if engine.dialect.name == "sqlite":
        engine.dispose()
        for path in Path(engine.url.database).parent.glob("fresh.db*"):
            path.unlink()
        return
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("DROP SCHEMA public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
            return
        connection.execute(text("SET FOREIGN_KEY_CHECKS = 0"))
        for name in inspect(connection).get_table_names():
            connection.execute(text(f"DROP TABLE `{name}`"))
        connection.execute(text("SET FOREIGN_KEY_CHECKS = 1"))


def differences(engine):
    with engine.connect() as connection:
        options = {"version_table": migrations.VERSION_TABLE, "compare_type": True, "compare_server_default": True}
        # No model can describe the index over names, nor an index that only PostgreSQL has.
        options["include_name"] = lambda name, *_: (
            name not in {name_index.INDEX, "ix_event_unnumbered"} and not str(name).startswith(name_index.TABLE)
        )
        return compare_metadata(MigrationContext.configure(connection, opts=options), Base.metadata)


def prepare(engine, start):
    """Make the schema of the revision, with a row, or an empty database."""
    drop_everything(engine)
    if start != "nothing":
        upgrade_to(engine, start)
        with engine.begin() as connection:
            connection.execute(insert(Token).values(ROW | {"created_at": utc_now()}))


def count_statements(engine, start):
    """Count the statements and commits of an upgrade."""
    seen = []
    prepare(engine, start)
    for name in ("before_cursor_execute", "commit"):
        event.listen(engine, name, lambda *_: seen.append(1))
    migrations.upgrade(engine)
    engine.dispose()
    return len(seen)


@pytest.mark.parametrize("start", STARTS)
def test_an_upgrade_that_is_killed_at_any_statement_can_be_repeated(engine, fresh_database_url, fork_server, start):
    statements = count_statements(make_engine(fresh_database_url), start)
    kills = min(KILLS, statements)
    for kill in range(kills):
        k = 1 + kill * (statements - 1) // max(kills - 1, 1)
        prepare(engine, start)
        engine.dispose()
        order = {"call": "support.reliability.upgrades:upgrade_and_die", "arguments": [fresh_database_url, k]}
        assert KILLED == ForkedProcess(fork_server, **order).wait(60)
        migrations.upgrade(engine)
        migrations.check_is_current(engine)
        assert [] == differences(engine), f"after a kill at statement {k}"
        with engine.connect() as connection:
            assert (start != "nothing") == bool(connection.scalars(select(Token.key)).all())

    assert statements > 10


def test_a_foreign_table_is_not_taken_for_a_partial_upgrade(engine):
    """A table that a repeated upgrade skips is an error in a first one."""
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE token (somebody INTEGER)"))

    with pytest.raises(ConfigurationError, match="database of its own"):
        migrations.upgrade(engine)
