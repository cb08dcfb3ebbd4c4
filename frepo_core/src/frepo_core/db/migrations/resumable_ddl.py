"""Lets an upgrade that was killed go on where the database commits each statement about the schema at once."""

import contextlib
from collections.abc import Iterator
from typing import Any

from alembic.ddl.mysql import MySQLImpl
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from frepo_core.db.models import Base
from frepo_core.errors import ConfigurationError

MARK = "frepo_upgrading"
# What MariaDB and MySQL say of a table, a column, an index or a foreign key that is there already, or gone already.
_DONE_ALREADY = {1050, 1060, 1061, 1091, 1826}


@contextlib.contextmanager
def resuming(connection: Connection, *, begins: bool) -> Iterator[bool]:
    """Tell whether an upgrade has to pass over what is done already, as one before it was killed.

    A mark in the database says so: without one, a table that is there when the first migration `begins` is somebody
    else's, and a `ConfigurationError`. Databases that can take a migration back need no mark.
    """
    needs_mark = connection.dialect.name in {"mysql", "mariadb"}
    there = inspect(connection)
    # PostgreSQL would show tables of other schemas, too, where its search_path has several.
    own = there.default_schema_name
    found = {*there.get_table_names(own), *there.get_view_names(own)}
    resumes = needs_mark and MARK in found
    if begins and not resumes and (taken := found.intersection(Base.metadata.tables)):
        raise ConfigurationError(
            f"The database has tables already that are not frepo's: {', '.join(sorted(taken))}. "
            "Give frepo a database of its own"
        )
    if not needs_mark:
        yield False
        return
    connection.execute(text(f"CREATE TABLE IF NOT EXISTS {MARK} (since INTEGER)"))
    yield resumes
    connection.execute(text(f"DROP TABLE {MARK}"))


class ResumingImpl(MySQLImpl):
    """Alembic's way to MariaDB and MySQL; with the option `resumes` it passes over what is done already."""

    __dialect__ = "mysql"

    def _exec(self, construct: Any, *arguments: Any, **more: Any) -> Any:
        try:
            return super()._exec(construct, *arguments, **more)
        except DBAPIError as error:
            if self.context_opts.get("resumes") and error.orig and error.orig.args[0] in _DONE_ALREADY:
                return None
            raise


class ResumingMariaDBImpl(ResumingImpl):
    """The same under MariaDB's own name."""

    __dialect__ = "mariadb"
