"""Migrations of the tables of plug-ins: each plug-in has a chain of revisions of its own, and a table for its place."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, Inspector, MetaData, inspect

from frepo_core.db.engine import session_limits_of
from frepo_core.errors import ConfigurationError

from . import current_revision, locked, migrate, translated


@dataclass(frozen=True, kw_only=True)
class PluginSchema:
    """The tables of a plug-in, and the folder with its revisions, whose names begin with four digits.

    `origin` names the plug-in and its package, for messages. `is_recovered` says that `frepo recover` reads the rows
    back.
    """

    plugin: str
    origin: str
    metadata: MetaData
    revisions: Path
    is_recovered: bool = False

    @property
    def version_table(self) -> str:
        """The table with the revision of the schema."""
        return f"plugin_{self.plugin.lower()}_alembic_version"

    @property
    def head(self) -> str:
        """The newest revision. Raises `ConfigurationError` without any."""
        names = [path.name[:4] for path in self.revisions.glob("[0-9][0-9][0-9][0-9]_*.py")]
        if not names:
            raise ConfigurationError(f"{self.origin}: {self.revisions} has no revisions, such as 0001_tables.py")
        return max(names)


@dataclass(frozen=True, kw_only=True)
class Upgraded:
    """The schema of a plug-in, and its revisions before and after; None for no tables."""

    schema: PluginSchema
    before: str | None
    after: str


def upgrade(engine: Engine, schemas: Iterable[PluginSchema]) -> Sequence[Upgraded]:
    """Upgrade the tables of plug-ins; return what was not current. Several processes may call it at the same time.

    Raises `ConfigurationError` or `DatabaseUnavailableError` as `migrations.upgrade`.
    """
    return [_upgrade(engine, schema) for schema in schemas if _find(engine, schema) != schema.head]


def check_are_current(engine: Engine, schemas: Iterable[PluginSchema]) -> None:
    """Raise `ConfigurationError` if the tables of a plug-in are not those that its package and its models need."""
    for schema in schemas:
        current, head = _find(engine, schema), schema.head
        if current is None:
            raise ConfigurationError(
                f"{schema.origin} has no tables in the database yet: run `frepo db:upgrade`, or set "
                "database.auto_upgrade = true"
            )
        if current != head:
            raise ConfigurationError(
                f"The tables of {schema.origin} are at {current}, the package needs {head}: run `frepo db:upgrade`, or "
                "install the version of the package that made them"
            )
        _check_are_complete(engine, schema)


def _check_are_complete(engine: Engine, schema: PluginSchema) -> None:
    """Raise `ConfigurationError` if a model has a table or a column that the tables lack at their newest revision."""
    with translated(), engine.connect().execution_options(sqlite_begin="DEFERRED") as connection:
        missing = list(_find_missing(inspect(connection), schema.metadata))
    if missing:
        raise ConfigurationError(
            f"A model of {schema.origin} needs {' and '.join(missing)}, which no revision has made: the tables are at "
            f"the revision {schema.head}, the newest one. Write a further revision into {schema.revisions}, and run "
            "`frepo db:upgrade`; or install a version of the package that has it"
        )


def _find_missing(inspector: Inspector, models: MetaData) -> Iterator[str]:
    for table in models.sorted_tables:
        if not inspector.has_table(table.name):
            yield f"the table {table.name}"
            continue
        made = {column["name"].casefold() for column in inspector.get_columns(table.name)}
        for column in table.columns:
            if not column.system and column.name.casefold() not in made:
                yield f"the column {table.name}.{column.name}"


def _find(engine: Engine, schema: PluginSchema) -> str | None:
    with translated(), engine.connect().execution_options(sqlite_begin="DEFERRED") as connection:
        return current_revision(connection, schema.version_table)


def _upgrade(engine: Engine, schema: PluginSchema) -> Upgraded:
    with translated(), engine.connect() as connection:
        session_limits_of(engine).lift(connection, "lock", "statement", "idle")
        with locked(connection):
            return _migrate(connection, schema)


def _migrate(connection: Connection, schema: PluginSchema) -> Upgraded:
    from frepo_core.db.migrations.resumable_ddl import resuming  # imports Alembic

    before = current_revision(connection, schema.version_table)
    mark = f"plugin_{schema.plugin.lower()}_upgrading"
    with resuming(connection, begins=before is None, mark=mark, tables=schema.metadata.tables) as resumes:
        migrate(
            connection,
            before,
            resumes=resumes,
            what=f"The tables of {schema.origin} are",
            version_table=schema.version_table,
            metadata=schema.metadata,
            revisions=schema.revisions,
        )
        connection.commit()
    after = current_revision(connection, schema.version_table)
    if after != schema.head:
        raise ConfigurationError(f"{schema.origin}: the revisions end with {after}, the newest file is {schema.head}")
    return Upgraded(schema=schema, before=before, after=schema.head)
