"""What a recovery remembers on the disk while it runs: the keys of the storage, and the objects of the journal.

Both may be larger than the memory, so they are in an SQLite file of their own.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...content.objects.found_objects import StoredBlob
from ..journal.json_rows import Values, dump

Key = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class MissingContent:
    """A content that is named and is in no storage: what it is of, as `version db1 3`, and what is known about it."""

    what: str
    name: str
    size: int
    digest: str
    storage: str
    key: str


class Staging:
    """An SQLite file that is deleted with its folder."""

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(folder / "staging.db")
        self._connection.executescript(
            """
            PRAGMA journal_mode = OFF;
            PRAGMA synchronous = OFF;
            CREATE TABLE stored (digest TEXT, storage TEXT, key TEXT, size INTEGER);
            CREATE TABLE changed (kind TEXT, key TEXT, state TEXT, PRIMARY KEY (kind, key)) WITHOUT ROWID;
            CREATE TABLE present (collection TEXT, number INTEGER, PRIMARY KEY (collection, number)) WITHOUT ROWID;
            CREATE TABLE doubted (storage TEXT, key TEXT, PRIMARY KEY (storage, key)) WITHOUT ROWID;
            CREATE TABLE named (what TEXT, name TEXT, size INTEGER, digest TEXT, storage TEXT, key TEXT);
            CREATE TABLE missing (what TEXT, name TEXT, size INTEGER, digest TEXT, storage TEXT, key TEXT);
            """
        )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add_stored(self, storage: str, blobs: Iterable[tuple[str, str, int]]) -> None:
        """Note digest, key and size of blobs in a storage."""
        rows = ((digest, storage, key, size) for digest, key, size in blobs)
        self._connection.executemany("INSERT INTO stored VALUES (?, ?, ?, ?)", rows)

    def index_stored(self) -> None:
        """Make `locate`, `pages` and `find_keys` fast, after all blobs were added."""
        self._connection.execute("CREATE INDEX ix_stored ON stored (digest)")
        self._connection.execute("CREATE INDEX ix_stored_key ON stored (storage, key)")

    def pages(self, storage: str, size: int) -> Iterator[list[StoredBlob]]:
        """Yield what a storage has, in the order of its keys: all bytes of one content together."""
        query = "SELECT key, size FROM stored WHERE storage = ? AND key > ? ORDER BY key LIMIT ?"
        last = ""
        while rows := self._connection.execute(query, (storage, last, size)).fetchall():
            yield [StoredBlob(storage=storage, key=key, size=found) for key, found in rows]
            last = rows[-1][0]

    def find_keys(self, storage: str, keys: Sequence[str]) -> set[str]:
        """Return those of the keys that a storage has."""
        marks = ",".join("?" * len(keys))
        query = f"SELECT key FROM stored WHERE storage = ? AND key IN ({marks})"  # only marks
        return {key for (key,) in self._connection.execute(query, [storage, *keys])}

    def locate(self, digests: Sequence[str]) -> dict[str, list[StoredBlob]]:
        """Return where the contents with these digests are; those that are nowhere are left out."""
        marks = ",".join("?" * len(digests))
        query = f"SELECT digest, storage, key, size FROM stored WHERE digest IN ({marks})"  # only marks
        found: dict[str, list[StoredBlob]] = {}
        for digest, storage, key, size in self._connection.execute(query, digests):
            found.setdefault(digest, []).append(StoredBlob(storage=storage, key=key, size=size))
        return found

    def change(self, kind: str, key: Key, state: Sequence[Values]) -> None:
        """Note the state of an object that the journal has. A later one replaces an earlier one."""
        row = (kind, dump(key), dump(state))
        self._connection.execute("INSERT OR REPLACE INTO changed VALUES (?, ?, ?)", row)

    def forget_changes(self) -> None:
        """Forget what the journal has, before that of another storage is read."""
        self._connection.execute("DELETE FROM changed")

    def find_changed(self, kind: str, keys: Sequence[Key]) -> set[Key]:
        """Return those of the keys that the journal has."""
        texts = {dump(key): key for key in keys}
        marks = ",".join("?" * len(texts))
        query = f"SELECT key FROM changed WHERE kind = ? AND key IN ({marks})"  # only marks
        return {texts[text] for (text,) in self._connection.execute(query, [kind, *texts])}

    def changed(self, kind: str) -> Iterator[tuple[Key, Values]]:
        """Yield all objects of a kind that the journal has and that exist."""
        cursor = self._connection.execute("SELECT key, state FROM changed WHERE kind = ? ORDER BY key", (kind,))
        for key, state in cursor:
            for values in json.loads(state):
                yield tuple(json.loads(key)), values

    def add_present(self, keys: Iterable[Key]) -> None:
        """Note the keys of versions that existed then."""
        self._connection.executemany("INSERT OR IGNORE INTO present VALUES (?, ?)", (key[:2] for key in keys))

    def find_present(self, collection: str) -> set[int]:
        """Return the numbers of the versions that a collection had then."""
        rows = self._connection.execute("SELECT number FROM present WHERE collection = ?", (collection,))
        return {number for (number,) in rows}

    def add_doubted(self, places: Iterable[tuple[str, str]]) -> None:
        """Note storages and keys of objects that were known to be damaged or missing."""
        self._connection.executemany("INSERT OR IGNORE INTO doubted VALUES (?, ?)", places)

    def find_doubted(self, storage: str, keys: Sequence[str]) -> set[str]:
        """Return those of the keys in a storage that were known to be damaged or missing."""
        marks = ",".join("?" * len(keys))
        query = f"SELECT key FROM doubted WHERE storage = ? AND key IN ({marks})"  # only marks
        return {key for (key,) in self._connection.execute(query, [storage, *keys])}

    def add_named(self, contents: Iterable[MissingContent]) -> None:
        """Note contents that are named."""
        self._connection.executemany("INSERT INTO named VALUES (?, ?, ?, ?, ?, ?)", map(_row, contents))

    def named(self) -> Iterator[MissingContent]:
        """Yield the contents that are named."""
        return self._read("named")

    def add_missing(self, contents: Iterable[MissingContent]) -> None:
        """Note contents of which no storage has the bytes."""
        self._connection.executemany("INSERT INTO missing VALUES (?, ?, ?, ?, ?, ?)", map(_row, contents))

    def missing(self) -> Iterator[MissingContent]:
        """Yield the contents of which no storage has the bytes."""
        return self._read("missing")

    def _read(self, table: str) -> Iterator[MissingContent]:
        query = f"SELECT what, name, size, digest, storage, key FROM {table} ORDER BY rowid"  # one of two names
        for what, name, size, digest, storage, key in self._connection.execute(query):
            yield MissingContent(what=what, name=name, size=size, digest=digest, storage=storage, key=key)


def _row(content: MissingContent) -> tuple[str, str, int, str, str, str]:
    return content.what, content.name, content.size, content.digest, content.storage, content.key
