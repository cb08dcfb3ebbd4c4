"""Reads the index of a storage from its keys alone, for the case that the database is lost."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from frepo_core.db import Database
from frepo_core.db.models import Content, StoredObject
from frepo_core.domain.naming import is_journal_key, parse_digest_in_key, printable
from frepo_core.plugins import StorageBackend

from ...base.batches import batches
from ...content.storages.owner_mark import OwnerMark
from .progress import Progress, count_objects, no_progress

BATCH = 500


@dataclass(frozen=True, kw_only=True)
class IndexReport:
    """The number of keys, bytes, distinct contents, and contents without a record, and the keys of other files."""

    keys: int
    size: int
    contents: int
    unknown: int
    foreign: Sequence[str]


def read_index(
    database: Database, backend: StorageBackend, *, storage: str, progress: Progress = no_progress
) -> IndexReport:
    """List all keys, which contain the digests of their contents. Changes nothing and reads no content."""
    total = count_objects(database, StoredObject.storage == storage, StoredObject.key.is_not(None))
    digests: set[str] = set()
    foreign: list[str] = []
    keys, size, unknown = 0, 0, 0
    stored = (stat for stat in backend.list() if not (OwnerMark.parse(stat.key) or is_journal_key(stat.key)))
    for batch in batches(stored, BATCH):
        found = {digest for stat in batch if (digest := parse_digest_in_key(stat.key))}
        foreign += [printable(stat.key) for stat in batch if parse_digest_in_key(stat.key) is None]
        unknown += len(found - digests - _known(database, found))
        digests |= found
        for stat in batch:
            keys, size = keys + 1, size + stat.size
            progress(done=keys, total=total, size=stat.size)
    return IndexReport(keys=keys, size=size, contents=len(digests), unknown=unknown, foreign=foreign)


def _known(database: Database, digests: set[str]) -> set[str]:
    with database.reading() as session:
        return set(session.scalars(select(Content.digest).where(Content.digest.in_(digests))))
