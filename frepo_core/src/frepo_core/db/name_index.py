"""An index over the parts of file names, where the database has one for that: SQLite and PostgreSQL, by trigrams."""

from sqlalchemy import Column, ColumnElement, Connection, Integer, MetaData, Table, Text, inspect, text
from sqlalchemy.exc import DBAPIError

SHORTEST = 3
TABLE = "file_name"
INDEX = "ix_file_name_trigrams"

# SQLite's table for searching; its rows have the ids of the plain files. The column of its own name is for MATCH.
file_name = Table(TABLE, MetaData(), Column("rowid", Integer), Column(TABLE, Text))

_TABLE = f"CREATE VIRTUAL TABLE {TABLE} USING fts5(stored_name, content='file', content_rowid='id', tokenize='trigram')"
_FILL = f"INSERT INTO {TABLE} (rowid, stored_name) SELECT id, stored_name FROM file WHERE kind = 'plain'"
# Stored names never change, so that no trigger is there for updates.
_ADDED = f"""
    CREATE TRIGGER {TABLE}_added AFTER INSERT ON file WHEN new.kind = 'plain' BEGIN
        INSERT INTO {TABLE} (rowid, stored_name) VALUES (new.id, new.stored_name);
    END"""
_REMOVED = f"""
    CREATE TRIGGER {TABLE}_removed AFTER DELETE ON file WHEN old.kind = 'plain' BEGIN
        INSERT INTO {TABLE} ({TABLE}, rowid, stored_name) VALUES ('delete', old.id, old.stored_name);
    END"""
_INDEX = f"CREATE INDEX {INDEX} ON file USING gin (lower(stored_name) gin_trgm_ops) WHERE kind = 'plain'"
_STATEMENTS = {
    "sqlite": (_TABLE, _FILL, _ADDED, _REMOVED),
    "postgresql": ("CREATE EXTENSION IF NOT EXISTS pg_trgm", _INDEX),
}


def install(connection: Connection) -> None:
    """Make the index. Where the database was built without, or forbids it, searches read every name."""
    savepoint = connection.begin_nested()
    try:
        for statement in _STATEMENTS.get(connection.dialect.name, ()):
            connection.execute(text(statement))
    except DBAPIError:
        savepoint.rollback()
    else:
        savepoint.commit()


def has_table(connection: Connection) -> bool:
    """Tell whether `file_name` can be asked: SQLite's can. PostgreSQL uses its index unasked."""
    return connection.dialect.name == "sqlite" and inspect(connection).has_table(TABLE)


def matches(*parts: str) -> ColumnElement[bool]:
    """Find the rows of `file_name` with one of these parts, three characters at least, in any letter case."""
    phrases = ('"' + part.replace('"', '""') + '"' for part in dict.fromkeys(parts))
    return file_name.c[TABLE].op("MATCH", is_comparison=True)(" OR ".join(phrases))
