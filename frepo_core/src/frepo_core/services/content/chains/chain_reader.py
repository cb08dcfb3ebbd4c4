"""Opens contents that are stored encoded. Each base is read from any of its copies that is sound."""

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO, Self, cast

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.errors import (
    BlobDamaged,
    BlobNotFound,
    DamagedBaseError,
    DamagedObjectError,
    FrepoError,
)

from ..decoder_memory import NO_WAIT, DecoderWait, Line
from ..objects.blob_damage import MISSING
from ..objects.decodable import MOST_LEVELS
from ..objects.places import find_places
from ..objects.states import RAW
from ..seekable_content import seekable_content
from ..storages.backends import Backends
from .spooled_part import SpooledParts

log = logging.getLogger(__name__)

# So many whole contents are decoded at a time, and so many parts: a whole one takes longer.
WHOLES, PARTS = 2, 2
# What is larger counts as a whole content.
LARGEST_PART = 16 << 20
_BUSY = "This process reads as many compressed contents as its memory allows, send this request again later"
_PIECE = 1 << 20
_FAILURES = (FrepoError, OSError)


class ChainReader:
    """Opens objects. For clients, at most four encoded ones at a time: each takes up to 64 MiB of memory."""

    def __init__(self, database: Database, backends: Backends, spools: SpooledParts | None = None) -> None:
        """`spools` are the files from which downloads are sent; without them, each holds a decoder until it ends."""
        self._database = database
        self._backends = backends
        self._spools = spools
        self._wholes, self._parts = Line(WHOLES, _BUSY), Line(PARTS, _BUSY)

    @property
    def is_restoring(self) -> bool:
        """Whether whole contents are decoded for clients of this process, or wait for that."""
        return self._wholes.is_used

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
        line = self._wholes if size > LARGEST_PART else self._parts
        line.take(1, wait)
        release = partial(line.give_back, 1)
        try:
            content = self.open(place, is_verified=is_spooled and size == place.size)
            content.seek(start)
            part = self._spools.new(start, size) if self._spools and is_spooled else None
        except BaseException:
            release()
            raise
        if part is None:
            return cast(BinaryIO, _Part(content, length, release))
        part.fill(content, line.move, release)
        return cast(BinaryIO, part)

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


class _Part:
    """A stream of a part of a seekable content. Closing it frees its place among the readers."""

    def __init__(self, content: BinaryIO, length: int | None, release: Callable[[], object]) -> None:
        self._content = content
        self._left = length
        self._release: Callable[[], object] | None = release

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes, or all if it is negative."""
        if size < 0:
            return b"".join(iter(partial(self.read, _PIECE), b""))
        data = self._content.read(size if self._left is None else min(size, self._left))
        if self._left is not None:
            self._left -= len(data)
        return data

    def close(self) -> None:
        """Close the content."""
        release, self._release = self._release, None
        if release is not None:
            try:
                self._content.close()
            finally:
                release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
