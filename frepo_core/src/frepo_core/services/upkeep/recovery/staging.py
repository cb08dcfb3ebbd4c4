"""What a recovery remembers on the disk while it runs: the keys of the storage, and the objects of the journal.

Both may be larger than the memory, so they are in an SQLite file of their own.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..journal.json_rows import Values, dump

Key = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class StoredBlob:
    """Where a content is: the storage, the key in it, and its size in bytes."""

    storage: str
    key: str
    size: int


@dataclass(frozen=True, kw_only=True)
class MissingContent:
    """A content that is named and cannot be read: what it is of, as `version db1 3`, and what is known about it."""

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
        """Make `locate` fast, after all blobs were added."""
        self._connection.execute("CREATE INDEX ix_stored ON stored (digest)")

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

    def add_missing(self, missing: MissingContent) -> None:
        """Note a content that cannot be read."""
        row = (missing.what, missing.name, missing.size, missing.digest, missing.storage, missing.key)
        self._connection.execute("INSERT INTO missing VALUES (?, ?, ?, ?, ?, ?)", row)

    def missing(self) -> Iterator[MissingContent]:
        """Yield the contents that cannot be read."""
        query = "SELECT what, name, size, digest, storage, key FROM missing"
        for what, name, size, digest, storage, key in self._connection.execute(query):
            yield MissingContent(what=what, name=name, size=size, digest=digest, storage=storage, key=key)
