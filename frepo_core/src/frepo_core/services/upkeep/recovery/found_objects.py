"""Objects that a recovery finds in a storage: their contents, and the rows of those that others need."""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import BinaryIO, cast

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import BlobNotFound, DamagedBaseError, FrepoError

from ...content.blobs.blob_damage import MISSING
from ...content.chains.chain_places import RAW
from ...content.checksums import digest_of
from ...content.encodings.decoder import DecodedContent
from ...content.encodings.format import DELTA
from ...content.storages.backends import Backends
from ..journal.json_rows import Values
from .object_levels import FoundObject, ObjectLevels
from .staging import StoredBlob

log = logging.getLogger(__name__)

PAGE = 200
_MIME = "application/octet-stream"
# The columns of a content that is not encoded.
RAW_COLUMNS: Values = {"encoding": RAW, "stored_size": None, "stored_digest": None, "base_id": None}


class FoundObjects:
    """Reads the objects that are found."""

    def __init__(self, backends: Backends, levels: ObjectLevels) -> None:
        self._backends = backends
        self._levels = levels

    def describe(self, found: FoundObject) -> Values:
        """Return the columns that the row of a blob has for an object. The base is named by `link_bases`."""
        if found.head is None:
            return RAW_COLUMNS
        with self._levels.open_stored(found.place) as stored:
            sha256 = digest_of(stored)
        return {
            "encoding": found.head.codec,
            "stored_size": found.place.size,
            "stored_digest": sha256,
            "base_id": None,
        }

    def find_sound(self, objects: Iterable[FoundObject]) -> StoredBlob | None:
        """Return a place of the bytes of a content, which are read: nobody has known them for a while.

        An encoded content is stored raw for that.
        """
        for found in objects:
            try:
                sound = self._read(found)
            except FrepoError as error:
                place = found.place
                log.warning("%s in the storage %s cannot be read: %s", place.key, place.storage, error.message)
                continue
            if sound is not None:
                return sound
        return None

    def _read(self, found: FoundObject) -> StoredBlob | None:
        place = found.place
        if found.head is not None:
            place = StoredBlob(storage=place.storage, key=new_blob_key(found.digest), size=found.head.size)
            with self._open(found) as content:
                self._backends.get(place.storage).store(place.key, content, place.size)
        with self._levels.open_stored(place) as stored:
            return place if digest_of(stored) == found.digest else None

    def link_bases(self, database: Database) -> None:
        """Let the row of each delta name the one of its base; mark those that have none as damaged.

        A base that no version and no file uses has no row yet.
        """
        after = 0
        while True:
            with database.reading() as session:
                page = select(Blob).where(Blob.encoding == DELTA, Blob.base_id.is_(None), Blob.id > after)
                rows = session.scalars(page.order_by(Blob.id).limit(PAGE)).all()
            if not rows:
                return
            for row in rows:
                database.write(self._link(row))
            after = rows[-1].id

    def _link(self, seen: Blob) -> Callable[[Session], None]:
        objects = self._levels.find({seen.digest: seen.size})[seen.digest]
        own = next((one for one in objects if (one.place.storage, one.place.key) == (seen.storage, seen.key)), None)
        bases = self._levels.find_bases(own) if own else ()

        def work(session: Session) -> None:
            row = session.get_one(Blob, seen.id)
            row.base_id = self._find_row(session, bases)
            if row.base_id is None:
                row.damaged_at = utc_now()

        return work

    def _find_row(self, session: Session, bases: Sequence[FoundObject]) -> int | None:
        """Return the id of the row of the best of these objects, which is inserted if there is none."""
        if not bases:
            return None
        best = bases[0]
        there = select(Blob.id).where(Blob.digest == best.digest, Blob.storage == best.place.storage)
        if (known := session.scalar(there)) is not None:
            return known
        new = Blob(
            id=next_blob_id(session),
            digest=best.digest,
            size=best.head.size if best.head else best.place.size,
            storage=best.place.storage,
            key=best.place.key,
            mime=_MIME,
            created_at=utc_now(),
            **self.describe(best),
        )
        session.add(new)
        session.flush()
        return new.id

    def _open(self, found: FoundObject, *, is_base: bool = False) -> BinaryIO:
        """Open the content of an object. Its SHA-256 is verified, unless it `is_base` of another one."""
        stored = self._levels.open_stored(found.place)
        if found.head is None:
            return stored
        open_base = partial(self._open_base, found)
        content = DecodedContent(stored, digest=found.digest, open_base=open_base, is_base=is_base)
        return cast(BinaryIO, content)

    def _open_base(self, above: FoundObject, base: str) -> BinaryIO:
        for found in self._levels.find_bases(above):
            try:
                return self._open(found, is_base=True)
            except BlobNotFound:
                continue
        raise DamagedBaseError(above.digest, base, MISSING)


def next_blob_id(session: Session) -> int:
    """Return an id that no content has. PostgreSQL would begin at 1: the rows of a recovery come with their ids."""
    return (session.scalar(select(func.max(Blob.id))) or 0) + 1
