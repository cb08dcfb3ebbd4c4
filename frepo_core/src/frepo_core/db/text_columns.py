"""Text columns of MariaDB and MySQL: utf8mb4 in each table, whatever the default of the database was.

In their own default, latin1, a column refuses the names and messages of most languages. Columns that compare byte by
byte have a collation of their own (`types.exact`), which they keep: `a` and `A` would be the same otherwise.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from frepo_core.domain.structs import struct
from frepo_core.errors import ConfigurationError

CHARSET, COLLATION = "utf8mb4", "utf8mb4_general_ci"
_STATED = f"CHARACTER SET {CHARSET} COLLATE {COLLATION}"
_DEFAULT = text("SELECT default_character_set_name FROM information_schema.schemata WHERE schema_name = DATABASE()")
_NARROW = text(
    "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE() "
    f"AND character_set_name IS NOT NULL AND character_set_name <> '{CHARSET}' "
    "AND table_name IN (SELECT table_name FROM information_schema.tables "
    "WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE') ORDER BY table_name, ordinal_position"
)
# A column in SHOW CREATE TABLE: its name, its type, and the rest.
_COLUMN = re.compile(r"^  (`(?:[^`]|``)+`) (\w+(?:\([^)]*\))?)(.*?),?$", re.MULTILINE)
_WORDS = re.compile(r" (?:CHARACTER SET|COLLATE) \w+")


@struct
class NarrowText:
    """What cannot store every text: the columns, as `table.column`, and the default of the database, None if it can."""

    columns: Sequence[str]
    default: str | None


def find_narrow_text(connection: Connection) -> NarrowText:
    """Return what cannot store every text; nothing for a database of another kind."""
    if connection.dialect.name not in {"mysql", "mariadb"}:
        return NarrowText(columns=(), default=None)
    default = connection.scalar(_DEFAULT)
    columns = [f"{table}.{column}" for table, column in connection.execute(_NARROW)]
    return NarrowText(columns=columns, default=None if default == CHARSET else default)


def widen_default(connection: Connection) -> None:
    """Make utf8mb4 the default of the database, for tables to come. Raises `ConfigurationError` without the right."""
    if find_narrow_text(connection).default is None:
        return
    try:
        connection.exec_driver_sql(f"ALTER DATABASE {_STATED}")
    except DBAPIError as error:
        name = connection.scalar(text("SELECT DATABASE()"))
        raise ConfigurationError(
            f"The database {name} has not the character set {CHARSET}, so it cannot store every text, and this user "
            f"may not change that. Run as its administrator: ALTER DATABASE `{name}` {_STATED}"
        ) from error


def widen_columns(connection: Connection) -> None:
    """Make each text column of each table utf8mb4. A repetition goes on where an earlier one was killed."""
    columns = defaultdict(set)
    for name in find_narrow_text(connection).columns:
        table, _, column = name.partition(".")
        columns[table].add(_quoted(column))
    if not columns:
        return
    checks = connection.exec_driver_sql("SELECT @@foreign_key_checks").scalar()
    connection.exec_driver_sql("SET foreign_key_checks = 0")  # both ends of a key are changed, one after the other
    try:
        for table, names in columns.items():
            _widen(connection, table, names)
    finally:
        connection.exec_driver_sql(f"SET foreign_key_checks = {int(checks or 0)}")


def _widen(connection: Connection, table: str, names: set[str]) -> None:
    made = str(connection.exec_driver_sql(f"SHOW CREATE TABLE {_quoted(table)}").one()[1])
    changes = [
        f"MODIFY {name} {type_} {_STATED}{_WORDS.sub('', rest)}"
        for name, type_, rest in _COLUMN.findall(made)
        if name in names
    ]
    statement = f"ALTER TABLE {_quoted(table)} DEFAULT {_STATED}, {', '.join(changes)}"
    connection.exec_driver_sql(statement.replace("%", "%%"))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
