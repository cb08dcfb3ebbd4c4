"""Fills a database with collections and versions, as many nights leave them: contents, verdicts, second copies."""

import contextlib
import sqlite3

EACH = 100  # versions of a collection
MIRROR = "offsite"
# A SHA-256 whose first digits differ, computed from the number i; a night for each version of a collection.
_DIGEST = "printf('%016x', (i * 11400714819323198485) & 9223372036854775807) || printf('%048x', i)"
_NIGHT = f"strftime('%Y-%m-%d %H:%M:%f000', 'now', '-' || ({EACH} - (i - 1) % {EACH}) || ' days')"
_VERIFIED = "strftime('%Y-%m-%d %H:%M:%f000', 'now', '-6 days')"
_OF_VERSION = f"'00000000-0000-4000-8000-' || ((i - 1) / {EACH} + 100000000001)"


def fill(path: str, collection: str, count: int) -> None:
    """Add `count` collections like the one with this id, which is empty, with 100 versions each. For SQLite."""
    versions = count * EACH
    key = f"substr({_DIGEST}, 1, 2) || '/' || {_DIGEST} || printf('-%016x', i)"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(collection)")]
        new = {
            "id": "'00000000-0000-4000-8000-' || (i + 100000000000)",
            "incarnation": "'10000000-0000-4000-8000-' || (i + 100000000000)",
            "filename": "'host-' || i || '.sql'",
            "last_number": str(EACH),
            "versions_count": str(EACH),
            "stored_size": str(EACH * 1000),
        }
        row = {name: new.get(name, f'(SELECT "{name}" FROM collection WHERE id = :id)') for name in columns}
        _insert(connection, "collection", count, row, id=collection)
        content = {"id": "i", "digest": _DIGEST, "size": "1000", "mime": "'text/plain'", "created_at": _NIGHT}
        _insert(connection, "content", versions, content)
        file = {
            "id": "i",
            "content_id": "i",
            "stored_name": "'v-' || i",
            "requested_name": "'night.sql'",
            "public": "0",
        }
        more = {"created_at": _NIGHT, "kind": "'version'", "mime": "'text/plain'"}
        _insert(connection, "file", versions, file | more)
        version = {"id": "'20000000-0000-4000-8000-' || (i + 100000000000)", "collection_id": _OF_VERSION}
        version |= {"number": f"(i - 1) % {EACH} + 1", "file_id": "i", "created_at": _NIGHT}
        verdict = f"CASE WHEN i % {versions // 20} = 0 THEN 'suspicious' ELSE 'complete' END"
        _insert(connection, "version", versions, version | {"verdict": verdict})
        each = {"content_id": "i", "digest": _DIGEST, "size": "1000", "state": "'present'", "slot": "1"}
        each |= {"since": _NIGHT, "stored_at": _NIGHT, "read_at": _VERIFIED}
        _insert(connection, "object", versions, each | {"storage": "'local'", "key": key})
        copy = {"storage": f"'{MIRROR}'", "key": f"{key} || 'c'", "role": "'copy'"}
        _insert(connection, "object", versions, each | copy)
        connection.execute("ANALYZE")


def _insert(connection: sqlite3.Connection, table: str, count: int, row: dict[str, str], **values: str) -> None:
    """Insert a row for each i from 1 to `count`."""
    names = ", ".join(f'"{name}"' for name in row)
    numbers = f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
    connection.execute(f'INSERT INTO "{table}" ({names}) {numbers} SELECT {", ".join(row.values())} FROM n', values)
