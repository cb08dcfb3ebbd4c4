"""Encoded objects that a recovery finds in a storage: what they say about themselves, and their contents."""

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import BinaryIO, cast

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import BlobNotFound, DamagedBaseError, FrepoError

from ...content.blobs.blob_damage import MISSING
from ...content.chains.chain_places import RAW
from ...content.checksums import digest_of
from ...content.encodings.decoder import DecodedContent
from ...content.encodings.format import DELTA, Head, read_head
from ...content.seekable_content import seekable_content
from ...content.storages.backends import Backends
from ..journal.json_rows import Values
from .staging import Staging, StoredBlob

log = logging.getLogger(__name__)

PAGE = 200
_MIME = "application/octet-stream"


class FoundObjects:
    """Reads the objects that the staging lists."""

    def __init__(self, backends: Backends, staging: Staging) -> None:
        self._backends = backends
        self._staging = staging

    def read_head(self, place: StoredBlob, digest: str) -> Head | None:
        """Return the head of the encoded object of a content, None if the object is not one, or cannot be read."""
        try:
            with self._stored(place) as stored:
                head = read_head(stored, digest)
        except (FrepoError, ValueError, OSError):
            return None
        return head if head.stored == place.size else None

    def describe(self, place: StoredBlob, digest: str) -> Values | None:
        """Return the columns that a blob's row has for an encoded object, None if the object is not one."""
        head = self.read_head(place, digest)
        if head is None:
            return None
        with self._stored(place) as stored:
            sha256 = digest_of(stored)
        return {"encoding": head.codec, "stored_size": place.size, "stored_digest": sha256, "base_id": None}

    def open(self, place: StoredBlob, digest: str, *, is_base: bool = False) -> BinaryIO:
        """Open the content of an object, whose bases are found in the listed storages. Its SHA-256 is verified."""
        stored = self._stored(place)
        if self.read_head(place, digest) is None:
            return stored
        open_base = partial(self._open_base, digest)
        return cast(BinaryIO, DecodedContent(stored, digest=digest, open_base=open_base, is_base=is_base))

    def find_sound(self, digest: str, places: Iterable[StoredBlob]) -> StoredBlob | None:
        """Return a place of the bytes of a content, which are read: nobody has known them for a while.

        An encoded content is stored raw for that.
        """
        for place in places:
            try:
                sound = self._read(place, digest)
            except FrepoError as error:
                log.warning("%s in the storage %s cannot be read: %s", place.key, place.storage, error.message)
                continue
            if sound is not None:
                return sound
        return None

    def _read(self, place: StoredBlob, digest: str) -> StoredBlob | None:
        head = self.read_head(place, digest)
        if head is not None:
            raw = StoredBlob(storage=place.storage, key=new_blob_key(digest), size=head.size)
            with self.open(place, digest) as content:
                self._backends.get(raw.storage).store(raw.key, content, raw.size)
            place = raw
        with self._stored(place) as stored:
            return place if digest_of(stored) == digest else None

    def link_bases(self, database: Database) -> int:
        """Let the row of each delta name the one of its base; return how many have none: they are damaged.

        A base that no version and no file uses has no row yet.
        """
        missing = after = 0
        while True:
            with database.reading() as session:
                page = select(Blob).where(Blob.encoding == DELTA, Blob.base_id.is_(None), Blob.id > after)
                rows = session.scalars(page.order_by(Blob.id).limit(PAGE)).all()
            if not rows:
                return missing
            for row in rows:
                missing += not database.write(self._link(row))
            after = rows[-1].id

    def _link(self, seen: Blob) -> Callable[[Session], bool]:
        place = StoredBlob(storage=seen.storage, key=seen.key, size=seen.object_size)
        head = self.read_head(place, seen.digest)

        def work(session: Session) -> bool:
            row = session.get_one(Blob, seen.id)
            row.base_id = self._find_row(session, head.base, seen.storage) if head and head.base else None
            if row.base_id is None:
                row.damaged_at = utc_now()
            return row.base_id is not None

        return work

    def _find_row(self, session: Session, digest: str, storage: str) -> int | None:
        rows = session.scalars(select(Blob).where(Blob.digest == digest))
        known = sorted(rows, key=lambda row: (row.damaged_at is not None, row.storage != storage))
        if known:
            return known[0].id
        for place in self._places(digest, storage):
            head = self.read_head(place, digest)
            described = self.describe(place, digest) or {"encoding": RAW}
            new = Blob(
                digest=digest,
                size=head.size if head else place.size,
                storage=place.storage,
                key=place.key,
                mime=_MIME,
                created_at=utc_now(),
                **described,
            )
            session.add(new)
            session.flush()
            return new.id
        return None

    def _open_base(self, digest: str, base: str) -> BinaryIO:
        for place in self._places(base, ""):
            try:
                return self.open(place, base, is_base=True)
            except BlobNotFound:
                continue
        raise DamagedBaseError(digest, base, MISSING)

    def _places(self, digest: str, storage: str) -> list[StoredBlob]:
        places = self._staging.locate([digest]).get(digest, [])
        return sorted(places, key=lambda place: place.storage != storage)

    def _stored(self, place: StoredBlob) -> BinaryIO:
        return seekable_content(partial(self._backends.get(place.storage).open, place.key), place.size)
