"""Fills a database with many rows at once, to test query plans and to measure times that depend on the row count."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, text

OFTEN, RARE, WORD = "often", "rare", "quarterly"
FOUND = 20

# Ten hex digits, like those of a digest, computed from the number i.
_DIGITS = {"sqlite": "digits(i)", "postgresql": "left(md5(cast(i as text)), 10)", "mysql": "left(md5(i), 10)"}


def fill_files(engine: Engine, count: int) -> None:
    """Add `count` public files. One in ten is tagged `often`; twenty are `rare`, named `quarterly`, and PNG."""
    rare = f"i % {max(1, count // FOUND)} = 0"
    with _filling(engine) as connection:
        digits, number = _DIGITS[engine.dialect.name], _text(connection, "i")
        name = f"{digits} || CASE WHEN {rare} THEN '{WORD}-' ELSE 'night-' END || {number} || '.sql.gz'"
        mime = f"CASE WHEN {rare} THEN 'image/png' ELSE 'text/plain' END"
        digest = f"{digits} || '-' || {number}"
        connection.execute(text(f"INSERT INTO tag (id, name) VALUES (1, '{OFTEN}'), (2, '{RARE}')"))
        content = {"id": "i", "digest": digest, "size": "4096", "mime": mime}
        _insert(connection, count, "content", content | {"created_at": _NOW})
        _insert(
            connection, count, "object", _OBJECT | {"content_id": "i", "digest": digest, "size": "4096", "key": digest}
        )
        file = {"id": "i", "stored_name": name, "requested_name": "'night.sql.gz'", "content_id": "i", "mime": mime}
        _insert(connection, count, "file", file | {"public": "1 = 1", "created_at": _NOW, "kind": "'plain'"})
        _insert(connection, count, "file_tag", {"file_id": "i", "tag_id": "1"}, only="i % 10 = 0")
        _insert(connection, count, "file_tag", {"file_id": "i", "tag_id": "2"}, only=rare)


def fill_collections(engine: Engine, count: int, token: str) -> None:
    """Add `count` collections. Twenty of them have `quarterly` in their name, and list the token with this key."""
    rare = f"i % {max(1, count // FOUND)} = 0"
    with _filling(engine) as connection:
        identifier = f"'00000000-0000-4000-8000-' || {_text(connection, 'i + 100000000000')}"
        zeros = ("max_backups_count", "max_one_version_size", "max_collection_size", "last_number", "versions_count")
        row = dict.fromkeys((*zeros, "stored_size"), "0") | {
            "id": identifier,
            "strategy": "'delete_oldest_when_adding_new'",
            "description": "''",
            "filename": f"CASE WHEN {rare} THEN '{WORD}.sql' ELSE 'night.sql' END",
            "created_at": _NOW,
        }
        _insert(connection, count, "collection", row)
        listed = {"collection_id": identifier, "token_key": f"'{token}'"}
        _insert(connection, count, "collection_token", listed, only=rare)


def fill_versions(engine: Engine, collection: str, count: int) -> None:
    """Add `count` versions to an empty collection; all of them share one content of one byte."""
    with _filling(engine) as connection:
        first = (connection.scalar(text("SELECT max(id) FROM file")) or 0) + 1
        blob = (connection.scalar(text("SELECT max(id) FROM content")) or 0) + 1
        one = {"digest": f"'one-{blob}'", "size": "1"}
        _insert(connection, 1, "content", one | {"id": str(blob), "mime": "'text/plain'", "created_at": _NOW})
        _insert(connection, 1, "object", _OBJECT | one | {"content_id": str(blob), "key": f"'one-{blob}'"})
        number = _text(connection, "i")
        name = f"'version-{blob}-' || {number}"
        file = {"id": f"i + {first}", "stored_name": name, "requested_name": name, "content_id": str(blob)}
        _insert(
            connection,
            count,
            "file",
            file | {"public": "1 = 0", "created_at": _NOW, "kind": "'version'", "mime": "'text/plain'"},
        )
        version = {"id": name, "collection_id": f"'{collection}'", "number": "i", "file_id": f"i + {first}"}
        _insert(connection, count, "version", version | {"created_at": _NOW})
        counters = f"last_number = {count}, versions_count = {count}, stored_size = {count}"
        connection.execute(text(f"UPDATE collection SET {counters} WHERE id = '{collection}'"))


def fill_tokens(engine: Engine, count: int) -> None:
    """Add unused tokens."""
    with _filling(engine) as connection:
        lists = dict.fromkeys(("roles", "tags", "mimes", "user_agents", "ip_addresses"), "'[]'")
        token = {
            "key": f"'nobody-' || {_text(connection, 'i')}",
            "fingerprint": f"'nobody-' || {_text(connection, 'i')}",
            "max_file_size": "0",
        }
        _insert(connection, count, "token", token | lists | {"created_at": _NOW})


_NOW = "CURRENT_TIMESTAMP"
_OBJECT = {"storage": "'local'", "state": "'present'", "slot": "1", "role": "'first'", "since": _NOW, "stored_at": _NOW}


@contextmanager
def _filling(engine: Engine) -> Iterator[Connection]:
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            driver: Any = connection.connection.dbapi_connection
            driver.create_function("digits", 1, _digits)
        if engine.dialect.name == "mysql":
            connection.execute(text("SET max_recursive_iterations = 4294967295, sql_mode = 'ANSI'"))
        yield connection
        if engine.dialect.name == "mysql":
            connection.execute(text("SET max_recursive_iterations = DEFAULT, sql_mode = DEFAULT"))
    _analyze(engine)


def _analyze(engine: Engine) -> None:
    """Update the statistics of the tables. Databases do this periodically, except SQLite."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("VACUUM ANALYZE"))
        elif engine.dialect.name == "mysql":
            tables = "content, object, file, file_tag, tag, collection, collection_token, version, token"
            connection.execute(text(f"ANALYZE TABLE {tables}"))


def _insert(connection: Connection, count: int, table: str, row: dict[str, str], only: str = "1 = 1") -> None:
    """Insert a row for each i from 1 to `count`; values are SQL, in which `||` concatenates texts."""
    columns = ", ".join(f'"{name}"' for name in row)
    values = ", ".join(row.values())
    numbers = f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
    if connection.dialect.name == "postgresql":
        values = ", ".join(f"({v})::json" if v == "'[]'" else v for v in row.values())
    connection.execute(
        text(f'INSERT INTO "{table}" ({columns}) {numbers} SELECT {values} FROM n WHERE {only}'.replace("::", r"\:\:"))
    )


def _text(connection: Connection, expression: str) -> str:
    return f"cast({expression} AS {'char' if connection.dialect.name == 'mysql' else 'text'})"


def _digits(number: int) -> str:
    return hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest()[:10]
