"""Upgrades the schema in a separate process that is killed at the k-th statement."""

import os
import signal

from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, event

from frepo_core.db import make_engine, migrations


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
    """Downgrade the schema to an older revision."""
    with engine.begin() as connection:
        config = migrations._config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def revisions() -> list[str]:
    """Return all revisions of the schema, the first one first."""
    return sorted(script.revision for script in ScriptDirectory.from_config(migrations._config()).walk_revisions())
