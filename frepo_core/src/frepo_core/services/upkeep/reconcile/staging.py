"""What a comparison with the storages remembers on the disk: their keys, which may be larger than the memory."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from frepo_core.domain.naming import parse_digest_in_key
from frepo_core.domain.structs import struct
from frepo_core.plugins import BlobStat, StorageBackend

from ...base.batches import batches
from ...content.objects.found_objects import StoredBlob
from ...content.storages.owner_mark import OwnerMark
from ..journal.keys import JournalKey


class Staging:
    """An SQLite file that is deleted with its folder."""

    def __init__(self, folder: Path) -> None:
        self.connection = sqlite3.connect(folder / "staging.db")
        self.connection.executescript(
            """
            PRAGMA journal_mode = OFF;
            PRAGMA synchronous = OFF;
            CREATE TABLE stored (digest TEXT, storage TEXT, key TEXT, size INTEGER);
            CREATE TABLE doubted (storage TEXT, key TEXT, PRIMARY KEY (storage, key)) WITHOUT ROWID;
            """
        )

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def add_stored(self, storage: str, blobs: Iterable[tuple[str, str, int]]) -> None:
        """Note digest, key and size of blobs in a storage."""
        rows = ((digest, storage, key, size) for digest, key, size in blobs)
        self.connection.executemany("INSERT INTO stored VALUES (?, ?, ?, ?)", rows)

    def index_stored(self) -> None:
        """Make searches by digest and by key fast, after all blobs were added."""
        self.connection.execute("CREATE INDEX ix_stored_key ON stored (storage, key)")

    def pages(self, storage: str, size: int) -> Iterator[list[StoredBlob]]:
        """Yield what a storage has, in the order of its keys: all bytes of one content together."""
        query = "SELECT key, size FROM stored WHERE storage = ? AND key > ? ORDER BY key LIMIT ?"
        last = ""
        while rows := self.connection.execute(query, (storage, last, size)).fetchall():
            yield [StoredBlob(storage=storage, key=key, size=found) for key, found in rows]
            last = rows[-1][0]

    def find_keys(self, storage: str, keys: Sequence[str]) -> set[str]:
        """Return those of the keys that a storage has."""
        marks = ",".join("?" * len(keys))
        query = f"SELECT key FROM stored WHERE storage = ? AND key IN ({marks})"  # only marks
        return {key for (key,) in self.connection.execute(query, [storage, *keys])}

    def add_doubted(self, places: Iterable[tuple[str, str]]) -> None:
        """Note storages and keys of objects that were known to be damaged or missing."""
        self.connection.executemany("INSERT OR IGNORE INTO doubted VALUES (?, ?)", places)

    def find_doubted(self, storage: str, keys: Sequence[str]) -> set[str]:
        """Return those of the keys in a storage that were known to be damaged or missing."""
        marks = ",".join("?" * len(keys))
        query = f"SELECT key FROM doubted WHERE storage = ? AND key IN ({marks})"  # only marks
        return {key for (key,) in self.connection.execute(query, [storage, *keys])}


Notes = Callable[[str], None]
_BATCH = 1000


@struct
class Listing:
    """The keys of the journal and the catalogues in a storage, and the ids of the databases that have a mark there."""

    keys: list[JournalKey]
    owners: set[str]


def list_storage(backend: StorageBackend, storage: str, staging: Staging, notes: Notes) -> Listing:
    """List a storage once, and note its blobs."""
    keys, owners, done = list[JournalKey](), set[str](), 0

    def blobs(stats: list[BlobStat]) -> Iterator[tuple[str, str, int]]:
        for stat in stats:
            if key := JournalKey.parse(stat.key):
                keys.append(key)
            elif mark := OwnerMark.parse(stat.key):
                owners.add(mark.database)
            elif digest := parse_digest_in_key(stat.key):
                yield digest, stat.key, stat.size

    for batch in batches(backend.list(), _BATCH):
        staging.add_stored(storage, blobs(batch))
        done += len(batch)
        notes(f"{storage}: {done} objects listed")
    return Listing(keys=keys, owners=owners)
