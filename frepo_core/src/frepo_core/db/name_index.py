"""A trigram index for searches by a part of a file name, on SQLite and PostgreSQL."""

from sqlalchemy import Column, ColumnElement, Connection, Integer, MetaData, Table, Text, inspect, text
from sqlalchemy.exc import DBAPIError

SHORTEST = 3
TABLE = "file_name"
INDEX = "ix_file_name_trigrams"

# SQLite's full-text table. Its row ids are those of plain files; MATCH uses the column that has the table's name.
file_name = Table(TABLE, MetaData(), Column("rowid", Integer), Column(TABLE, Text))

_TABLE = f"CREATE VIRTUAL TABLE {TABLE} USING fts5(stored_name, content='file', content_rowid='id', tokenize='trigram')"
_FILL = f"INSERT INTO {TABLE} (rowid, stored_name) SELECT id, stored_name FROM file WHERE kind = 'plain'"
_ADDED = f"""
    CREATE TRIGGER {TABLE}_added AFTER INSERT ON file WHEN new.kind = 'plain' BEGIN
        INSERT INTO {TABLE} (rowid, stored_name) VALUES (new.id, new.stored_name);
    END"""
_REMOVED = f"""
    CREATE TRIGGER {TABLE}_removed AFTER DELETE ON file WHEN old.kind = 'plain' BEGIN
        INSERT INTO {TABLE} ({TABLE}, rowid, stored_name) VALUES ('delete', old.id, old.stored_name);
    END"""
# Since migration 0022: before, stored names never changed.
_RENAMED = f"""
    CREATE TRIGGER IF NOT EXISTS {TABLE}_renamed AFTER UPDATE OF stored_name ON file WHEN new.kind = 'plain' BEGIN
        INSERT INTO {TABLE} ({TABLE}, rowid, stored_name) VALUES ('delete', old.id, old.stored_name);
        INSERT INTO {TABLE} (rowid, stored_name) VALUES (new.id, new.stored_name);
    END"""
_INDEX = f"CREATE INDEX {INDEX} ON file USING gin (lower(stored_name) gin_trgm_ops) WHERE kind = 'plain'"
_STATEMENTS = {
    "sqlite": (_TABLE, _FILL, _ADDED, _REMOVED),
    "postgresql": ("CREATE EXTENSION IF NOT EXISTS pg_trgm", _INDEX),
}


def install(connection: Connection) -> None:
    """Create the index. If the database does not support or allow it, searches read all names."""
    savepoint = connection.begin_nested()
    try:
        for statement in _STATEMENTS.get(connection.dialect.name, ()):
            connection.execute(text(statement))
    except DBAPIError:
        savepoint.rollback()
    else:
        savepoint.commit()


def follow_renames(connection: Connection) -> None:
    """Let the index of SQLite follow changes of stored names. PostgreSQL's does by itself."""
    if has_table(connection):
        connection.execute(text(_RENAMED))


def has_table(connection: Connection) -> bool:
    """Return whether the table `file_name` can be queried: on SQLite only. PostgreSQL uses its index by itself."""
    return connection.dialect.name == "sqlite" and inspect(connection).has_table(TABLE)


def matches(*parts: str) -> ColumnElement[bool]:
    """Match the rows of `file_name` that contain one of these parts (three characters or more) in any letter case."""
    phrases = ('"' + part.replace('"', '""') + '"' for part in dict.fromkeys(parts))
    return file_name.c[TABLE].op("MATCH", is_comparison=True)(" OR ".join(phrases))
