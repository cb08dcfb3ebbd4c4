"""Opens contents that are stored encoded. Each base is read from any of its copies that is sound."""

import logging
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.errors import (
    BlobDamaged,
    BlobNotFound,
    DamagedBaseError,
    DamagedObjectError,
    FrepoError,
)

from ..decoder_memory import NO_WAIT, DecoderWait
from ..objects.blob_damage import MISSING
from ..objects.decodable import MOST_LEVELS
from ..objects.places import find_places
from ..objects.states import RAW
from ..seekable_content import seekable_content
from ..storages.backends import Backends

if TYPE_CHECKING:
    from ..ingest import Ingest

log = logging.getLogger(__name__)

_FAILURES = (FrepoError, OSError)


class ChainReader:
    """Opens objects. For clients, at most four encoded ones at a time: each takes up to 64 MiB of memory."""

    def __init__(self, database: Database, backends: Backends, spool: "Ingest | None" = None) -> None:
        """`spool` has the folder of the files from which downloads are sent; without one, each holds a decoder."""
        self._database = database
        self._backends = backends
        self._parts = backends.encodings.parts(spool)

    @property
    def is_restoring(self) -> bool:
        """Whether whole contents are decoded for clients of this process, or wait for that."""
        return self._parts.is_restoring

    def open_part(
        self,
        place: StoredObject,
        start: int = 0,
        length: int | None = None,
        *,
        wait: DecoderWait = NO_WAIT,
        is_spooled: bool = False,
    ) -> BinaryIO:
        """Open `length` bytes of a content from `start`, all if it is None; the caller closes the stream.

        With `is_spooled`, what is encoded is decoded into a temporary file if the disk has room for it.
        Raises `ReadersBusyError` if four encoded contents are open and none of them ends within `wait`, `BlobNotFound`
        if the object is missing, and what the storage and the decoder raise.
        """
        if place.encoding == RAW:
            return self._backends.get(place.storage).open(str(place.key), start, length)
        size = place.size - start if length is None else length
        is_whole = size == place.size
        open_content = partial(self.open, place, is_verified=is_spooled and is_whole)
        return self._parts.open(open_content, start, length, size=size, wait=wait, is_spooled=is_spooled)

    def open(self, place: StoredObject, *, is_verified: bool = False, above: tuple[str, ...] = ()) -> BinaryIO:
        """Open the content of an object, seekable. With `is_verified`, the SHA-256 of a whole read is compared.

        Jobs use it, one at a time. `above` are the contents that need this one. Raises `BlobNotFound`, and what the
        decoder raises.
        """
        backend = self._backends.get(place.storage)
        stored = seekable_content(partial(backend.open, str(place.key)), place.object_size)
        if place.encoding == RAW:
            return stored
        bases = _Bases(self, self._database, place, above)
        try:
            return self._backends.encodings.open(stored, place, bases, is_verified=is_verified)
        except BaseException:
            stored.close()
            raise


class _Bases:
    """Opens the base of one object from each object that has it, one after the other."""

    def __init__(self, reader: ChainReader, database: Database, place: StoredObject, above: tuple[str, ...]) -> None:
        self._reader = reader
        self._database = database
        self._place = place
        self._digest = place.digest
        self._above = (*above, place.digest)
        self._places: Iterator[StoredObject] = iter(())
        self._base = ""

    def open(self, base: str) -> BinaryIO:
        """Open the base with this SHA-256. Raises `DamagedBaseError`, or the error of the storage that fails."""
        if len(self._above) > MOST_LEVELS:
            raise DamagedBaseError(self._digest, base, f"more than {MOST_LEVELS} objects are above each other")
        self._base = base
        with self._database.reading() as session:
            places = find_places(session, base, self._place.storage)
        # One that needs a content above it leads nowhere.
        self._places = iter([place for place in places if place.base_digest not in self._above])
        return self._open_next(BlobNotFound(MISSING))

    def open_other(self, error: Exception) -> BinaryIO:
        """Open another copy of the base, after this error with the one before. Raises it if there is none."""
        log.error("the base of the content %s is read from another copy, if there is one: %s", self._digest, error)
        return self._open_next(error)

    def _open_next(self, error: Exception) -> BinaryIO:
        for place in self._places:
            try:
                return self._reader.open(place, above=self._above)
            except _FAILURES as failure:
                log.error("%s in %s, a base of the content %s: %s", place.key, place.storage, self._digest, failure)
                error = failure
        if isinstance(error, BlobNotFound):
            raise DamagedBaseError(self._digest, self._base, MISSING) from error
        if isinstance(error, BlobDamaged):
            raise DamagedBaseError(self._digest, self._base, error.message) from error
        if isinstance(error, DamagedObjectError | DamagedBaseError) and error.digest == self._base:
            raise DamagedBaseError(self._digest, self._base, error.message) from error
        raise error
