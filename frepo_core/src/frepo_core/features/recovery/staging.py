"""What a recovery remembers on the disk besides the keys of the storages: the objects of the journal."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from frepo_core.domain.structs import struct
from frepo_core.services.upkeep.reconcile.staging import Staging

from .journal.json_rows import Values, dump

Key = tuple[Any, ...]


@struct
class MissingContent:
    """A content that is named and is in no storage: what it is of, as `version db1 3`, and what is known about it."""

    what: str
    name: str
    size: int
    digest: str
    storage: str
    key: str


class RecoveryStaging(Staging):
    """The same file, with what the journal names, and which of it is nowhere."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.connection.executescript(
            """
            CREATE TABLE changed (kind TEXT, key TEXT, state TEXT, PRIMARY KEY (kind, key)) WITHOUT ROWID;
            CREATE TABLE present (collection TEXT, number INTEGER, PRIMARY KEY (collection, number)) WITHOUT ROWID;
            CREATE TABLE named (what TEXT, name TEXT, size INTEGER, digest TEXT, storage TEXT, key TEXT);
            CREATE TABLE missing (what TEXT, name TEXT, size INTEGER, digest TEXT, storage TEXT, key TEXT);
            """
        )

    def change(self, kind: str, key: Key, state: Sequence[Values]) -> None:
        """Note the state of an object that the journal has. A later one replaces an earlier one."""
        row = (kind, dump(key), dump(state))
        self.connection.execute("INSERT OR REPLACE INTO changed VALUES (?, ?, ?)", row)

    def forget_changes(self) -> None:
        """Forget what the journal has, before that of another storage is read."""
        self.connection.execute("DELETE FROM changed")

    def find_changed(self, kind: str, keys: Sequence[Key]) -> set[Key]:
        """Return those of the keys that the journal has."""
        texts = {dump(key): key for key in keys}
        marks = ",".join("?" * len(texts))
        query = f"SELECT key FROM changed WHERE kind = ? AND key IN ({marks})"  # only marks
        return {texts[text] for (text,) in self.connection.execute(query, [kind, *texts])}

    def changed(self, kind: str) -> Iterator[tuple[Key, Values]]:
        """Yield all objects of a kind that the journal has and that exist."""
        cursor = self.connection.execute("SELECT key, state FROM changed WHERE kind = ? ORDER BY key", (kind,))
        for key, state in cursor:
            for values in json.loads(state):
                yield tuple(json.loads(key)), values

    def add_present(self, keys: Iterable[Key]) -> None:
        """Note the keys of versions that existed then."""
        self.connection.executemany("INSERT OR IGNORE INTO present VALUES (?, ?)", (key[:2] for key in keys))

    def find_present(self, collection: str) -> set[int]:
        """Return the numbers of the versions that a collection had then."""
        rows = self.connection.execute("SELECT number FROM present WHERE collection = ?", (collection,))
        return {number for (number,) in rows}

    def add_named(self, contents: Iterable[MissingContent]) -> None:
        """Note contents that are named."""
        self.connection.executemany("INSERT INTO named VALUES (?, ?, ?, ?, ?, ?)", map(_row, contents))

    def named(self) -> Iterator[MissingContent]:
        """Yield the contents that are named."""
        return self._read("named")

    def add_missing(self, contents: Iterable[MissingContent]) -> None:
        """Note contents of which no storage has the bytes."""
        self.connection.executemany("INSERT INTO missing VALUES (?, ?, ?, ?, ?, ?)", map(_row, contents))

    def missing(self) -> Iterator[MissingContent]:
        """Yield the contents of which no storage has the bytes."""
        return self._read("missing")

    def _read(self, table: str) -> Iterator[MissingContent]:
        query = f"SELECT what, name, size, digest, storage, key FROM {table} ORDER BY rowid"  # one of two names
        for what, name, size, digest, storage, key in self.connection.execute(query):
            yield MissingContent(what=what, name=name, size=size, digest=digest, storage=storage, key=key)


def _row(content: MissingContent) -> tuple[str, str, int, str, str, str]:
    return content.what, content.name, content.size, content.digest, content.storage, content.key
