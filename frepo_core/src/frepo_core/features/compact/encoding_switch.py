"""Changes how a content is stored: encoded, or raw again. The object before is superseded, and kept for a time."""

import logging
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from typing import BinaryIO

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.commit_watch import CommitWatch
from frepo_core.db.models import Content, StoredObject
from frepo_core.domain.naming import new_blob_key
from frepo_core.domain.structs import struct
from frepo_core.errors import DamagedObjectError
from frepo_core.services.base.failpoints import hit
from frepo_core.services.content.chains.chain_reader import ChainReader
from frepo_core.services.content.objects.blob_damage import find_damage
from frepo_core.services.content.objects.decodable import MOST_LEVELS, find_base_path, find_dependents
from frepo_core.services.content.objects.gate import lock_contents
from frepo_core.services.content.objects.states import CURRENT, RAW, ObjectState
from frepo_core.services.content.objects.supersession import take_place
from frepo_core.services.content.objects.unnamed_bytes import delete_unnamed
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.content.storages.write_guard import Presence

from .encodings.format import Head
from .planned_content import MOST_DEPENDENTS

log = logging.getLogger(__name__)

# Decides in the transaction, with the locked object of a content and that of its new base.
Allow = Callable[[Session, StoredObject, StoredObject | None], bool]


@struct
class NewObject:
    """An object that is stored for a content and was read back: its key, encoding, size in bytes and SHA-256 (hex).

    `base_digest` is the content that a delta needs.
    """

    key: str
    encoding: str
    size: int
    digest: str
    base_digest: str | None = None


def always(session: Session, row: StoredObject, base: StoredObject | None) -> bool:
    """Allow every change."""
    return True


class EncodingSwitch:
    """Stores a content in another way: under a fresh key, read back, then one transaction. A crash leaves an orphan."""

    def __init__(
        self,
        database: Database,
        backends: Backends,
        presence: Presence,
        reader: ChainReader,
        collect: Callable[[Iterable[str]], None],
        keeps: timedelta,
    ) -> None:
        """`collect` gets the digests of contents that perhaps nothing needs any more, and deletes them.

        `keeps` is for how long the object before is kept: a database that is restored from the last night names it.
        """
        self._collect = collect
        self._keeps = keeps
        self._database = database
        self._backends = backends
        self._presence = presence
        self._reader = reader

    def replace(
        self,
        row: StoredObject,
        content: BinaryIO,
        head: Head,
        *,
        digest: str,
        most_levels: int = MOST_LEVELS - 1,
        allow: Allow = always,
        pace: Callable[[int], None] = lambda size: None,
    ) -> bool:
        """Store the encoded object in the file `content` instead of an object, as its row was read.

        `head` is what `encode` has returned, `digest` the SHA-256 (hex) of the object. `encode` has decoded each
        segment, so the object is read back without its base, and its SHA-256 is compared. `pace` gets the size of each
        piece that was read back; it may wait, or end the work.
        Returns False, and leaves no object, if the object or its base was changed meanwhile, if the chain would be
        deeper than `most_levels`, if the base cannot be decoded in the storage without this content, or if `allow`
        returns False. Raises the errors of the storage, and `DamagedObjectError` if it has other bytes.
        """
        new = NewObject(
            key=new_blob_key(row.digest), encoding=head.codec, size=head.stored, digest=digest, base_digest=head.base
        )
        content.seek(0)
        return self._store_and_switch(row, new, content, partial(self._compare, row, new, pace), most_levels, allow)

    def expand(self, row: StoredObject, *, pace: Callable[[int], None] = lambda size: None) -> bool:
        """Decode a content, as its row was read, from any objects, and store it raw. Return and raise as `use_raw`."""
        if row.encoding == RAW:
            return False
        with self._reader.open(row, is_verified=True) as content:
            return self.use_raw(row, content, pace=pace)

    def use_raw(self, row: StoredObject, content: BinaryIO, *, pace: Callable[[int], None] = lambda size: None) -> bool:
        """Store the content of an encoded object raw. Return whether it was changed. Raises as `replace` does."""
        new = NewObject(key=new_blob_key(row.digest), encoding=RAW, size=row.size, digest=row.digest)
        return self._store_and_switch(row, new, content, partial(self._compare, row, new, pace), 0, always)

    def switch(
        self,
        row: StoredObject,
        new: NewObject,
        *,
        most_levels: int,
        allow: Allow = always,
        watch: CommitWatch | None = None,
    ) -> bool:
        """Let a content, as its row was read, use an object that is stored already. Return False as `replace` does.

        Raises `BlobNotFound` if a sweep has deleted the object while this process was suspended: it had no row.
        """

        def work(session: Session) -> bool:
            is_switched = _switch(session, row, new, most_levels=most_levels, allow=allow, keeps=self._keeps)
            self._backends.get(row.storage).stat(new.key)
            return is_switched

        is_switched = self._database.write(work, watch=watch)
        hit("blob_switched")
        if is_switched and row.base_digest is not None:
            self._collect([row.base_digest])
        return is_switched

    def _store_and_switch(
        self,
        row: StoredObject,
        new: NewObject,
        content: BinaryIO,
        check: Callable[[], None],
        most_levels: int,
        allow: Allow,
    ) -> bool:
        watch, is_switched = CommitWatch(), False
        self._presence.require(row.storage)
        try:
            self._backends.get(row.storage).store(new.key, content, new.size)
            hit("object_stored")
            self._presence.require(row.storage)
            check()
            hit("object_read_back")
            is_switched = self.switch(row, new, most_levels=most_levels, allow=allow, watch=watch)
        finally:
            if not is_switched and not watch.outcome_is_unknown:
                delete_unnamed(self._database, self._backends, row.storage, new.key)
        return is_switched

    def _compare(self, row: StoredObject, new: NewObject, pace: Callable[[int], None]) -> None:
        backend = self._backends.get(row.storage)
        if problem := find_damage(backend, new.key, digest=new.digest, size=new.size, pace=pace):
            raise DamagedObjectError(row.digest, f"read back: {problem}")


def _switch(
    session: Session, seen: StoredObject, new: NewObject, *, most_levels: int, allow: Allow, keeps: timedelta
) -> bool:
    _lock_chain(session, seen, new.base_digest)
    row = session.scalar(select(StoredObject).where(StoredObject.id == seen.id).with_for_update())
    if row is None or row.key != seen.key or row.slot != CURRENT or row.content_id is None:
        return False
    base = None
    if new.base_digest is not None:
        base = _find_base(session, row, new.base_digest, most_levels)
        if base is None or row.state != ObjectState.PRESENT:
            return False
    if not allow(session, row, base):
        return False
    take_place(
        session,
        row,
        key=new.key,
        encoding=new.encoding,
        size=new.size,
        digest=new.digest,
        base_digest=new.base_digest,
        keeps=keeps,
    )
    if new.encoding == RAW:
        session.execute(update(Content).where(Content.id == row.content_id).values(expand_since=None))
    outdate_others(session, row)
    return True


def outdate_others(session: Session, row: StoredObject) -> None:
    """Let the job `mirror` make the other current objects of a content again, because it is stored in another way."""
    others = (StoredObject.content_id == row.content_id, StoredObject.storage != row.storage)
    present = (StoredObject.state == ObjectState.PRESENT.value, StoredObject.slot == CURRENT)
    session.execute(update(StoredObject).where(*others, *present).values(next_try=read_clock(session)))


def _find_base(session: Session, row: StoredObject, digest: str, most_levels: int) -> StoredObject | None:
    """Return the current object of the new base, if it can be decoded without this content and is not too deep.

    None, too, if as many others as a base may have depend on it already.
    """
    path = find_base_path(session, row, digest, row.storage)
    if path is None or _count_dependents(session, row, digest) >= MOST_DEPENDENTS:
        return None
    above = sum(1 for _ in find_dependents(session, row.digest, row.storage, only_current=True))
    return path[0] if len(path) + above <= most_levels else None


def _count_dependents(session: Session, row: StoredObject, base_digest: str) -> int:
    """Return how many other current objects depend on a base, in the storage of an object."""
    others = (StoredObject.base_digest == base_digest, StoredObject.storage == row.storage, StoredObject.id != row.id)
    return session.scalar(select(func.count()).where(*others, StoredObject.slot == CURRENT)) or 0


def _lock_chain(session: Session, row: StoredObject, base_digest: str | None) -> None:
    """Lock a content, its new base and all bases of that, in the order of their ids."""
    digests, level = {row.digest}, base_digest
    while level is not None and level not in digests and len(digests) <= MOST_LEVELS + 1:
        digests.add(level)
        current = (StoredObject.digest == level, StoredObject.storage == row.storage, StoredObject.slot == CURRENT)
        level = session.scalar(select(StoredObject.base_digest).where(*current))
    lock_contents(session, session.scalars(select(Content.id).where(Content.digest.in_(digests))))
