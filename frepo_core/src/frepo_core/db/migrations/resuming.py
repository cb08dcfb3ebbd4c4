"""Lets an upgrade that was killed go on where the database commits each statement about the schema at once."""

import contextlib
from collections.abc import Iterator
from typing import Any

from alembic.ddl.mysql import MySQLImpl
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

MARK = "frepo_upgrading"
# What MariaDB and MySQL say of a table, a column, an index or a foreign key that is there already, or gone already.
_DONE_ALREADY = {1050, 1060, 1061, 1091, 1826}


@contextlib.contextmanager
def resuming(connection: Connection) -> Iterator[bool]:
    """Tell whether an upgrade has to pass over what is done already, as one before it was killed.

    A mark in the database says so: without one, a table that is there is somebody else's, and an error.
    Databases that can take a migration back need no mark.
    """
    if connection.dialect.name not in {"mysql", "mariadb"}:
        yield False
        return
    resumes = inspect(connection).has_table(MARK)
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
