"""Upgrades of the schema: to a revision, in a process that is killed at the k-th statement, and their outcome."""

import os
import signal

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, event

from frepo_core.db import make_engine, migrations, name_index
from frepo_core.db.models import Base


def upgrade_and_die(url: str, k: int) -> None:
    """Upgrade; exit with 9 if the upgrade ends before its k-th statement."""
    engine, seen = make_engine(url), 0

    @event.listens_for(engine, "before_cursor_execute")
    @event.listens_for(engine, "commit")
    def count(*_: object) -> None:
        nonlocal seen
        seen += 1
        if seen == k:
            os.kill(os.getpid(), signal.SIGKILL)

    migrations.upgrade(engine)
    os._exit(9)


def upgrade_to(engine: Engine, revision: str) -> None:
    """Upgrade the schema to a revision that may be older than the newest."""
    with engine.begin() as connection:
        config = migrations._config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def revisions() -> list[str]:
    """Return all revisions of the schema, the first one first."""
    return sorted(script.revision for script in ScriptDirectory.from_config(migrations._config()).walk_revisions())


def schema_differences(engine: Engine) -> list[object]:
    """Return the differences between the models and the schema."""
    options = {"version_table": migrations.VERSION_TABLE, "compare_type": True, "compare_server_default": True}
    options["include_name"] = lambda name, *_: is_for_rows(name)
    with engine.connect() as connection:
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), Base.metadata))


def is_for_rows(name: object) -> bool:
    """Return False for what a model cannot describe: the index over names, and one of PostgreSQL alone."""
    return name not in {name_index.INDEX, "ix_event_unnumbered"} and not str(name).startswith(name_index.TABLE)
