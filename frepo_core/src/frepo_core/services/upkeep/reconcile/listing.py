"""Lists a storage once: its blobs, the files of the journal, and the marks of owners."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from frepo_core.domain.naming import parse_digest_in_key
from frepo_core.plugins import BlobStat, StorageBackend

from ...base.batches import batches
from ...content.storages.owner_mark import OwnerMark
from ..journal.keys import JournalKey
from .staging import Staging

Notes = Callable[[str], None]
_BATCH = 1000


@dataclass(frozen=True, kw_only=True)
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
