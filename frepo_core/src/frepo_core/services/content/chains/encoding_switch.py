"""Changes how a blob is stored: encoded, or raw again. The bytes before are deleted two days later."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import BinaryIO

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.commit_watch import CommitWatch
from frepo_core.db.models import Blob, ReplacedObject
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import DamagedObjectError, FrepoError

from ..blobs.blob_damage import find_damage
from ..blobs.failpoints import hit
from ..encodings.format import Head
from ..storages.backends import Backends
from ..storages.write_guard import Presence
from .chain_places import MOST_LEVELS, RAW, place_of
from .chain_reader import ChainReader
from .dependents import find_dependents, outdate_copies, store_raw
from .replaced_objects import delete_replaced

log = logging.getLogger(__name__)

# A database that is restored from the last night names the bytes before.
KEPT_FOR = timedelta(hours=48)
# Decides in the transaction, with the locked rows of a blob and its new base.
Allow = Callable[[Session, Blob, Blob | None], bool]


@dataclass(frozen=True, kw_only=True)
class NewObject:
    """An object that is stored for a blob and was read back: its key, encoding, size in bytes and SHA-256 (hex).

    `base_id` is the blob that a delta needs.
    """

    key: str
    encoding: str
    size: int
    digest: str
    base_id: int | None = None


def always(session: Session, blob: Blob, base: Blob | None) -> bool:
    """Allow every change."""
    return True


class EncodingSwitch:
    """Stores a blob in another way: under a fresh key, read back, then one transaction. A crash leaves an orphan."""

    def __init__(
        self,
        database: Database,
        backends: Backends,
        presence: Presence,
        reader: ChainReader,
        collect: Callable[[Iterable[int]], None],
    ) -> None:
        """`collect` gets the ids of blobs that perhaps nothing uses any more, and deletes them."""
        self._collect = collect
        self._database = database
        self._backends = backends
        self._presence = presence
        self._reader = reader

    def replace(
        self,
        blob: Blob,
        content: BinaryIO,
        head: Head,
        *,
        digest: str,
        base_id: int | None = None,
        most_levels: int = MOST_LEVELS - 1,
        allow: Allow = always,
        pace: Callable[[int], None] = lambda size: None,
    ) -> bool:
        """Store the encoded object in the file `content` instead of the bytes of a blob, as its row was read.

        `head` is what `encode` has returned, `digest` the SHA-256 (hex) of the object, and `base_id` the blob of its
        base. `encode` has decoded each segment, so the object is read back without its base, and its SHA-256 is
        compared. `pace` gets the size of each piece that was read back; it may wait, or end the work.
        Returns False, and leaves no object, if the blob or its base was changed meanwhile, if the chain would be deeper
        than `most_levels`, or if `allow` returns False. Raises the errors of the storage, and `DamagedObjectError` if
        it has other bytes.
        """
        new = NewObject(
            key=new_blob_key(blob.digest), encoding=head.codec, size=head.stored, digest=digest, base_id=base_id
        )
        content.seek(0)
        return self._store_and_switch(blob, new, content, partial(self._compare, blob, new, pace), most_levels, allow)

    def expand(self, blob: Blob, *, pace: Callable[[int], None] = lambda size: None) -> bool:
        """Decode a blob, as its row was read, from any copies, and store it raw. Return and raise as `use_raw` does."""
        if blob.encoding == RAW:
            return False
        with self._reader.open(place_of(blob), blob.digest, is_verified=True) as content:
            return self.use_raw(blob, content, pace=pace)

    def use_raw(self, blob: Blob, content: BinaryIO, *, pace: Callable[[int], None] = lambda size: None) -> bool:
        """Store the content of an encoded blob raw. Return whether it was changed. Raises as `replace` does."""
        new = NewObject(key=new_blob_key(blob.digest), encoding=RAW, size=blob.size, digest=blob.digest)
        return self._store_and_switch(blob, new, content, partial(self._compare, blob, new, pace), 0, always)

    def switch(
        self, blob: Blob, new: NewObject, *, most_levels: int, allow: Allow = always, watch: CommitWatch | None = None
    ) -> bool:
        """Let a blob, as its row was read, use an object that is stored already. Return False as `replace` does.

        Raises `BlobNotFound` if a sweep has deleted the object while this process was suspended: it had no row.
        """

        def work(session: Session) -> bool:
            is_switched = _switch(session, blob, new, most_levels=most_levels, allow=allow)
            self._backends.get(blob.storage).stat(new.key)
            return is_switched

        is_switched = self._database.write(work, watch=watch)
        hit("blob_switched")
        if is_switched and blob.base_id is not None:
            self._collect([blob.base_id])
        return is_switched

    def delete_replaced(self, storage: str, *, keep_going: Callable[[], None] = lambda: None) -> int:
        """Delete the bytes in a storage that were replaced long enough ago; return their number."""
        return delete_replaced(self._database, self._backends, self._presence, storage, keep_going=keep_going)

    def _store_and_switch(
        self, blob: Blob, new: NewObject, content: BinaryIO, check: Callable[[], None], most_levels: int, allow: Allow
    ) -> bool:
        watch, is_switched = CommitWatch(), False
        self._presence.require(blob.storage)
        try:
            self._backends.get(blob.storage).store(new.key, content, new.size)
            hit("object_stored")
            self._presence.require(blob.storage)
            check()
            hit("object_read_back")
            is_switched = self.switch(blob, new, most_levels=most_levels, allow=allow, watch=watch)
        finally:
            if not is_switched and not watch.outcome_is_unknown:
                self._discard(blob.storage, new.key)
        return is_switched

    def _compare(self, blob: Blob, new: NewObject, pace: Callable[[int], None]) -> None:
        backend = self._backends.get(blob.storage)
        if problem := find_damage(backend, new.key, digest=new.digest, size=new.size, pace=pace):
            raise DamagedObjectError(blob.digest, f"read back: {problem}")

    def _discard(self, storage: str, key: str) -> None:
        try:
            self._backends.get(storage).delete(key)
        except FrepoError:
            log.exception("the object %s was not deleted, storage:sweep will delete it", key)


def _switch(session: Session, seen: Blob, new: NewObject, *, most_levels: int, allow: Allow) -> bool:
    rows = _lock_chain(session, seen.id, new.base_id)
    blob, chain = rows.get(seen.id), _chain(rows, seen.id, new.base_id)
    if blob is None or blob.key != seen.key or blob.storage != seen.storage or chain is None:
        return False
    base = chain[0] if chain else None
    if base is not None and (base.storage != blob.storage or base.damaged_at or blob.damaged_at):
        return False
    if chain and len(chain) + sum(1 for _ in find_dependents(session, blob.id)) > most_levels:
        return False
    if not allow(session, blob, base):
        return False
    replaced = ReplacedObject(
        storage=blob.storage, key=blob.key, size=blob.object_size, delete_after=utc_now() + KEPT_FOR
    )
    session.add(replaced)
    store_raw(blob, new.key)
    if new.encoding != RAW:
        blob.encoding, blob.stored_size, blob.stored_digest = new.encoding, new.size, new.digest
        blob.base_id = new.base_id
    blob.verified_at = utc_now()
    outdate_copies(session, blob.id)
    return True


def _lock_chain(session: Session, blob_id: int, base_id: int | None) -> dict[int, Blob]:
    """Return the rows of a blob, its new base and all bases of that, locked in the order of their ids."""
    ids = {blob_id}
    while base_id is not None and base_id not in ids and len(ids) <= MOST_LEVELS + 1:
        ids.add(base_id)
        base_id = session.scalar(select(Blob.base_id).where(Blob.id == base_id))
    query = select(Blob).where(Blob.id.in_(ids)).order_by(Blob.id)
    return {row.id: row for row in session.scalars(query.with_for_update())}


def _chain(rows: dict[int, Blob], blob_id: int, base_id: int | None) -> list[Blob] | None:
    """Return the new base and its bases; None if that is a circle, or was changed while the rows were locked."""
    chain: list[Blob] = []
    while base_id is not None:
        if base_id == blob_id or base_id not in rows or len(chain) > len(rows):
            return None
        chain.append(rows[base_id])
        base_id = rows[base_id].base_id
    return chain
