"""Schema migrations, configured in code, so that an installed package needs no alembic.ini.

Alembic is imported only to migrate. Every command checks the schema here, and importing Alembic would make it
take half as long again.
"""

import contextlib
import time
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, MetaData, inspect, text
from sqlalchemy.exc import DBAPIError

from frepo_core.db.engine import session_limits_of
from frepo_core.db.models import Base
from frepo_core.db.text_columns import find_narrow_text, widen_columns, widen_default
from frepo_core.errors import ConfigurationError, DatabaseUnavailableError

if TYPE_CHECKING:
    from alembic.config import Config

VERSION_TABLE = "frepo_alembic_version"
_LOCK = 0x66726570
_LOCK_SECONDS = 300


def make_ready(engine: Engine, *, upgrades: bool) -> bool:
    """Migrate the database if `upgrades` is true, then check that the schema is current.

    Return whether the database was empty before. Raises `ConfigurationError` for a schema that is not current, and
    leaves no connection open after an error.
    """
    was_empty = False
    try:
        if upgrades and _is_behind(engine):
            was_empty = upgrade(engine)[0] is None
        check_is_current(engine)
    except Exception:
        engine.dispose()
        raise
    return was_empty


def upgrade(engine: Engine) -> tuple[str | None, str | None]:
    """Upgrade the schema to the newest revision; return the revisions before and after.

    Several processes may call it at the same time, and it continues an upgrade that was killed.

    Raises `ConfigurationError` for a schema that this version of frepo does not know, and for tables of another
    application. Raises `DatabaseUnavailableError` if the database cannot be used, or if another upgrade takes more than
    five minutes.
    """
    with translated(), engine.connect() as connection, _without_foreign_keys(connection):
        session_limits_of(engine).lift(connection, "lock", "statement", "idle")
        return _upgrade(connection)


@contextlib.contextmanager
def _without_foreign_keys(connection: Connection) -> Iterator[None]:
    """Do not check foreign keys in SQLite: a table that others refer to is made again to change its constraints."""
    if connection.dialect.name != "sqlite":
        yield
        return
    driver = connection.connection.dbapi_connection
    assert driver is not None  # it was just opened
    driver.execute("PRAGMA foreign_keys=OFF")  # outside a transaction, or it does nothing
    try:
        yield
    finally:
        connection.rollback()
        driver.execute("PRAGMA foreign_keys=ON")


def _upgrade(connection: Connection) -> tuple[str | None, str | None]:
    from frepo_core.db.migrations.resumable_ddl import resuming  # imports Alembic

    with locked(connection):
        before = current_revision(connection)
        with resuming(connection, begins=before is None) as resumes:
            if before is None:  # later, new tables must not differ from those that they refer to
                widen_default(connection)
            migrate(connection, before, resumes=resumes)
            widen_columns(connection)  # also of tables that plug-ins have made
            connection.commit()
        return before, current_revision(connection)


def narrow_columns(engine: Engine) -> Sequence[str]:
    """Return the text columns of MariaDB that an upgrade makes utf8mb4, as `table.column`."""
    if engine.dialect.name == "sqlite":  # a connection would make the file
        return ()
    with translated(), engine.connect() as connection:
        return find_narrow_text(connection).columns


def find_revision(engine: Engine) -> str | None:
    """Return the schema's revision, or None if there is no schema of frepo. Makes no file for SQLite."""
    if engine.dialect.name == "sqlite" and not Path(str(engine.url.database)).exists():
        return None
    with translated(), engine.connect().execution_options(sqlite_begin="DEFERRED") as connection:
        return current_revision(connection)


def check_is_current(engine: Engine) -> None:
    """Raise `ConfigurationError` if the schema is not at the revision that this version of frepo needs."""
    with translated(), engine.connect().execution_options(sqlite_begin="DEFERRED") as connection:
        current = current_revision(connection)
    head = head_revision()
    if current != head:
        raise ConfigurationError(
            f"{_described(current)}, this version of frepo needs {head}: "
            f"run `frepo db:upgrade{'' if current else ' --create'}`, or set database.auto_upgrade = true"
        )


def _described(current: str | None) -> str:
    return f"The database schema is at {current}" if current else "The database has no schema of frepo"


def check_is_complete(engine: Engine) -> None:
    """Raise `ConfigurationError` if the schema is older than this version of frepo needs, or lacks tables.

    A newer schema is accepted: during an upgrade, running processes use it with older code.
    """
    with translated(), engine.connect().execution_options(sqlite_begin="DEFERRED") as connection:
        current = current_revision(connection)
        missing = Base.metadata.tables.keys() - set(inspect(connection).get_table_names())
    if current is None or current < head_revision():
        raise ConfigurationError(
            f"{_described(current)}, this version of frepo needs {head_revision()}: "
            "run `frepo db:upgrade`, or restore the database from its backup"
        )
    if missing:
        raise ConfigurationError(
            f"The database lacks the tables: {', '.join(sorted(missing))}. Restore it from its backup"
        )


def head_revision() -> str:
    """Return the newest revision. File names begin with the revision's number, and there are no branches."""
    names = [entry.name for entry in (resources.files(__name__) / "versions").iterdir()]
    return max(name[:4] for name in names if name[:4].isdigit())


def _is_behind(engine: Engine) -> bool:
    with translated(), engine.connect().execution_options(sqlite_begin="DEFERRED") as connection:
        return current_revision(connection) != head_revision()


def migrate(
    connection: Connection,
    before: str | None,
    *,
    resumes: bool,
    what: str = "The database schema is",
    version_table: str = VERSION_TABLE,
    metadata: MetaData = Base.metadata,
    revisions: Path | None = None,
) -> None:
    """Run the migrations in a folder, by default those of the service. Raises `ConfigurationError` if one is missing.

    `what` begins the message. `before` is the revision that `version_table` has.
    """
    from alembic import command
    from alembic.util import CommandError

    config = _config(revisions)
    config.attributes |= {
        "connection": connection,
        "resumes": resumes,
        "version_table": version_table,
        "metadata": metadata,
    }
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise ConfigurationError(
            f"{what} at {before}, which this version does not know: it was made by a newer one. Install that, or "
            f"restore the backup from before its upgrade ({error})"
        ) from error


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Raise `DatabaseUnavailableError` for errors of the driver."""
    try:
        yield
    except DBAPIError as error:
        raise DatabaseUnavailableError("The database of database.url (DATABASE_URL) cannot be used") from error


def _config(revisions: Path | None = None) -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "frepo_core.db:migrations")
    config.set_main_option("path_separator", "os")
    if revisions is not None:
        config.set_main_option("version_locations", str(revisions).replace("%", "%%"))
    return config


def current_revision(connection: Connection, version_table: str = VERSION_TABLE) -> str | None:
    """Return the revision that a table names; None without the table."""
    if not inspect(connection).has_table(version_table):
        return None
    found: str | None = connection.scalar(text(f"SELECT version_num FROM {version_table}"))
    return found


@contextlib.contextmanager
def locked(connection: Connection) -> Iterator[None]:
    """Hold a lock, so that one process migrates at a time. SQLite needs none: its transactions begin with a lock."""
    # Named locks of MariaDB and MySQL apply to the whole server, so the name contains that of the database.
    named = "CONCAT('frepo_migrate ', MD5(DATABASE()))"
    mysql = f"SELECT GET_LOCK({named}, 0)", f"SELECT RELEASE_LOCK({named})"
    postgresql = f"SELECT pg_try_advisory_lock({_LOCK})", f"SELECT pg_advisory_unlock({_LOCK})"
    locks = {"postgresql": postgresql, "mysql": mysql, "mariadb": mysql}
    if connection.dialect.name not in locks:
        yield
        return
    take, release = locks[connection.dialect.name]
    deadline = time.monotonic() + _LOCK_SECONDS
    while not connection.scalar(text(take)):
        if time.monotonic() > deadline:
            raise DatabaseUnavailableError("Another upgrade of this database is running, try again later")
        time.sleep(0.1)
    try:
        yield
    finally:
        connection.rollback()
        connection.execute(text(release))
        connection.commit()
