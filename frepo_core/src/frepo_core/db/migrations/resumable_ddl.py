"""Continues upgrades that were killed, on databases that commit each schema statement at once (MariaDB and MySQL)."""

import contextlib
from collections.abc import Collection, Iterator
from typing import Any

from alembic.ddl.mysql import MySQLImpl
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from frepo_core.db.models import Base
from frepo_core.errors import ConfigurationError

MARK = "frepo_upgrading"
# Error codes of MariaDB and MySQL for a table, column, index or foreign key that exists or was dropped already.
_DONE_ALREADY = {1050, 1060, 1061, 1091, 1826}


@contextlib.contextmanager
def resuming(
    connection: Connection, *, begins: bool, mark: str = MARK, tables: Collection[str] = Base.metadata.tables
) -> Iterator[bool]:
    """Yield whether an earlier upgrade was killed, so that statements which were executed already must be skipped.

    The table `mark` marks an unfinished upgrade. Databases that roll back failed migrations need no mark. `begins` says
    that no migration has run yet: existing `tables` belong to another application then, unless the mark exists, and
    `ConfigurationError` is raised.
    """
    needs_mark = connection.dialect.name in {"mysql", "mariadb"}
    inspector = inspect(connection)
    # Without the name, PostgreSQL lists tables of all schemas in its search_path.
    schema = inspector.default_schema_name
    found = {*inspector.get_table_names(schema), *inspector.get_view_names(schema)}
    resumes = needs_mark and mark in found
    if begins and not resumes and (taken := found.intersection(tables)):
        raise ConfigurationError(
            f"The database contains tables that another application has made: {', '.join(sorted(taken))}. "
            "Give frepo a database of its own"
        )
    if not needs_mark:
        yield False
        return
    connection.execute(text(f"CREATE TABLE IF NOT EXISTS {mark} (since INTEGER)"))
    yield resumes
    connection.execute(text(f"DROP TABLE {mark}"))


class ResumingImpl(MySQLImpl):
    """Alembic's implementation for MySQL; with the option `resumes` it skips statements that were executed already."""

    __dialect__ = "mysql"

    def _exec(self, construct: Any, *arguments: Any, **more: Any) -> Any:
        try:
            return super()._exec(construct, *arguments, **more)
        except DBAPIError as error:
            if self.context_opts.get("resumes") and error.orig and error.orig.args[0] in _DONE_ALREADY:
                return None
            raise


class ResumingMariaDBImpl(ResumingImpl):
    """The same for SQLAlchemy's dialect `mariadb`."""

    __dialect__ = "mariadb"
