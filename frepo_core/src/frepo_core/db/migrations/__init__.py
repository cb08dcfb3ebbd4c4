"""Schema migrations: set up from code, so that an installed package needs no alembic.ini."""

import contextlib
from collections.abc import Iterator

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from frepo_core.errors import ConfigurationError, DatabaseUnavailableError

from .resuming import resuming

VERSION_TABLE = "frepo_alembic_version"
_LOCK = 0x66726570
_LOCK_SECONDS = 300


def make_ready(engine: Engine, *, upgrades: bool) -> None:
    """Migrate where that is asked for; raise `ConfigurationError` where the schema is not current then.

    What raises leaves no connection open.
    """
    try:
        if upgrades:
            upgrade(engine)
        check_is_current(engine)
    except Exception:
        engine.dispose()
        raise


def upgrade(engine: Engine) -> tuple[str | None, str | None]:
    """Bring the schema to the newest revision; return the revisions before and after.

    Safe to run twice at once, and again after one that was killed.

    Raises `ConfigurationError` for a schema that this version of frepo does not know, and
    `DatabaseUnavailableError` for a database that is away, or is none.
    """
    with _translated(), engine.connect() as connection, _locked(connection):
        before = _current(connection)
        with resuming(connection) as resumes:
            _migrate(connection, before, resumes=resumes)
            connection.commit()
        return before, _current(connection)


def check_is_current(engine: Engine) -> None:
    """Raise `ConfigurationError` where the schema is not the one that this version of frepo works with."""
    with _translated(), engine.connect().execution_options(sqlite_begin="DEFERRED") as connection:
        current = _current(connection)
    head = ScriptDirectory.from_config(_config()).get_current_head()
    if current != head:
        raise ConfigurationError(
            f"The database schema is at {current or 'nothing'}, this version of frepo needs {head}: "
            "run `frepo db:upgrade`, or set database.auto_upgrade = true"
        )


def _migrate(connection: Connection, before: str | None, *, resumes: bool) -> None:
    config = _config()
    config.attributes |= {"connection": connection, "resumes": resumes}
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise ConfigurationError(
            f"The database schema is at {before}, which this version of frepo does not know: "
            "it was made by a newer one. Install that, or restore the backup from before its upgrade"
        ) from error


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        raise DatabaseUnavailableError("The database of database.url (DATABASE_URL) cannot be used") from error


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "frepo_core.db:migrations")
    config.set_main_option("path_separator", "os")
    return config


def _current(connection: Connection) -> str | None:
    return MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE}).get_current_revision()


@contextlib.contextmanager
def _locked(connection: Connection) -> Iterator[None]:
    """Let one process migrate at a time. SQLite needs no lock: its writers begin by locking."""
    take, give = {
        "postgresql": (f"SELECT pg_advisory_lock({_LOCK})", f"SELECT pg_advisory_unlock({_LOCK})"),
        "mysql": (f"SELECT GET_LOCK('frepo_migrate', {_LOCK_SECONDS})", "SELECT RELEASE_LOCK('frepo_migrate')"),
    }.get(connection.dialect.name, ("", ""))
    if not take:
        yield
        return
    connection.execute(text(take))
    try:
        yield
    finally:
        connection.rollback()
        connection.execute(text(give))
        connection.commit()
