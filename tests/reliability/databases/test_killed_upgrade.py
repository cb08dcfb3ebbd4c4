"""An upgrade that is killed at any statement: the next one completes it, and no row is lost."""

import itertools
import signal
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import insert, inspect, select, text

from frepo_core.db import make_engine, migrations, name_index, utc_now
from frepo_core.db.models import Base, Token
from frepo_core.errors import ConfigurationError
from support.reliability.upgrades import upgrade_to
from support.scale import IS_BIG
from support.servers.fork_server import ForkedProcess

pytestmark = pytest.mark.databases

# From nothing, and at each statement, only in the full form.
STARTS, STEPS = (["nothing", "0001"], {}) if IS_BIG else (["0001"], {"sqlite": 13, "postgresql": 13, "mysql": 8})
KILLED, FINISHED = -signal.SIGKILL, 9
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
        # The index over names, which no model can describe.
        options["include_name"] = lambda name, *_: (
            name != name_index.INDEX and not str(name).startswith(name_index.TABLE)
        )
        return compare_metadata(MigrationContext.configure(connection, opts=options), Base.metadata)


@pytest.mark.parametrize("start", STARTS)
def test_an_upgrade_that_is_killed_at_any_statement_can_be_repeated(engine, fresh_database_url, fork_server, start):
    for k in itertools.count(1, STEPS.get(engine.dialect.name, 1)):
        drop_everything(engine)
        if start != "nothing":
            upgrade_to(engine, start)
            with engine.begin() as connection:
                connection.execute(insert(Token).values(ROW | {"created_at": utc_now()}))
        engine.dispose()
        order = {"call": "support.reliability.upgrades:upgrade_and_die", "arguments": [fresh_database_url, k]}
        ended = ForkedProcess(fork_server, **order).wait(60)
        assert ended in {KILLED, FINISHED}
        migrations.upgrade(engine)
        migrations.check_is_current(engine)
        assert [] == differences(engine), f"after a kill at statement {k}"
        with engine.connect() as connection:
            assert (start != "nothing") == bool(connection.scalars(select(Token.key)).all())
        if ended == FINISHED:
            break
    print(f"{k} statements")

    assert k > 10


def test_a_foreign_table_is_not_taken_for_a_partial_upgrade(engine):
    """A table that a repeated upgrade skips is an error in a first one."""
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE token (somebody INTEGER)"))

    with pytest.raises(ConfigurationError, match="database of its own"):
        migrations.upgrade(engine)
