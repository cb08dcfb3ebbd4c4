"""Reads a content from any of its objects: what one does not give, another one may."""

from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, TypeVar

from sqlalchemy import select

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.errors import (
    BlobDamaged,
    BlobNotFound,
    BytesMissingError,
    DamagedBaseError,
    DamagedObjectError,
    FrepoError,
    ReadersBusyError,
    SpoolFullError,
)

from ...base.records import BlobRecord
from ..chains.chain_reader import ChainReader
from ..copies import Doubt, Fallbacks
from ..objects.places import find_places
from ..objects.states import CURRENT, SOUND, ObjectState
from ..objects.uses import is_second_copy
from ..storages.backends import Backends

Result = TypeVar("Result")
# What reading from a storage may raise.
READ_FAILURES = (FrepoError, OSError)


class ObjectReads:
    """Tries the objects of a content in their order. What fails is noted, if another one has answered.

    Without `notes`, as in a service with one storage, nothing is noted.
    """

    def __init__(self, database: Database, backends: Backends, chains: ChainReader, notes: Fallbacks | None) -> None:
        self._chains = chains
        self._database = database
        self._backends = backends
        self.notes = notes

    def find(self, blob: BlobRecord) -> Sequence[StoredObject]:
        """Return the objects of a content, best first. Those in storages that fail just now are tried last."""
        with self._database.reading() as session:
            places = find_places(session, blob.digest, self._backends.current)
        return sorted(places, key=self._is_skipped)

    def find_first(self, blob: BlobRecord) -> StoredObject | None:
        """Return the object that is read first; None if it is not a first copy in a storage that works."""
        if (known := self._known(blob)) is not None:
            return known
        places = self.find(blob)
        return None if not places or self._avoids_first(places) else places[0]

    def has_sound(self, blob: BlobRecord) -> bool:
        """Return whether an object is not known to be damaged."""
        return not blob.is_damaged or any(place.state in SOUND for place in self.find(blob))

    def use(
        self, blob: BlobRecord, use: Callable[[StoredObject], Result], *, but: Sequence[StoredObject] = ()
    ) -> Result:
        """Call `use` with each object until it succeeds. Raises the error of the first one if it does with none.

        `but` are those that were tried. Raises `BlobNotFound` if there is no object.
        """
        failed: list[tuple[StoredObject, Exception]] = []
        for place in self._untried(blob, but):
            try:
                result = use(place)
            except ReadersBusyError:
                raise
            except READ_FAILURES as error:
                failed.append((place, error))
            else:
                self._backends.breaker.worked(place.storage)
                self._note(blob, place, failed, but)
                return result
        self._note_missing(blob, failed[1:])
        raise failed[0][1] if failed else BlobNotFound(f"No object of the content {blob.digest} is left")

    def open_other(
        self, blob: BlobRecord, failed: Sequence[StoredObject], start: int, length: int | None, error: Exception
    ) -> tuple[BinaryIO, StoredObject]:
        """Open `length` bytes from `start` of another object than those that have failed; return it, too.

        Note the failure of the last one. Raises `error` if there is no other. If only the disk for temporary files is
        full, the last one has not failed: it is opened again, without a file.
        """
        self.note_failed(blob, failed[-1], error)
        but = failed[:-1] if isinstance(error, SpoolFullError) else failed
        try:
            return self.use(blob, lambda place: (self._chains.open_part(place, start, length), place), but=but)
        except ReadersBusyError:
            raise
        except READ_FAILURES:
            raise error from None

    def note_failed(self, blob: BlobRecord, place: StoredObject, error: Exception) -> None:
        """Note that an object could not be read. If its bytes are certainly missing, mark it.

        That a disk for temporary files is full says nothing of an object.
        """
        if isinstance(error, SpoolFullError):
            return
        problem = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
        doubt = _doubt(error)
        if doubt is Doubt.UNREADABLE:
            self._backends.breaker.failed(place.storage)
        if self.notes:
            self.notes.note(blob, place, problem, doubt)

    def note_wrong(self, blob: BlobRecord, place: StoredObject) -> None:
        """Mark an object whose bytes are not those that were stored."""
        if self.notes:
            self.notes.note(blob, place, "its content is not what was stored", Doubt.WRONG)

    def _untried(self, blob: BlobRecord, but: Sequence[StoredObject]) -> Iterator[StoredObject]:
        """Yield the objects; then those that have taken their places meanwhile."""
        tried = {place.key for place in but}
        if not but and (known := self._known(blob)) is not None:
            tried.add(known.key)
            yield known
        while places := [place for place in self.find(blob) if place.key not in tried]:
            for place in places:
                tried.add(place.key)
                yield place

    def _known(self, blob: BlobRecord) -> StoredObject | None:
        """Return the object that a record names, if it is read first. That saves a query for nearly each download."""
        if blob.is_damaged or blob.storage != self._backends.current or self._backends.breaker.skips(blob.storage):
            return None
        return StoredObject(
            content_id=blob.id,
            digest=blob.digest,
            size=blob.size,
            storage=blob.storage,
            key=blob.key,
            encoding=blob.encoding,
            stored_size=blob.stored_size,
            state=ObjectState.PRESENT.value,
            slot=CURRENT,
        )

    def _note(
        self,
        blob: BlobRecord,
        used: StoredObject,
        failed: Sequence[tuple[StoredObject, Exception]],
        but: Sequence[StoredObject],
    ) -> None:
        """Note what failed before an object has answered, or why a first copy was not tried."""
        for place, error in failed:
            if used.content_id != place.content_id or used.storage != place.storage or self._is_still_there(place):
                self.note_failed(blob, place, error)
        if self.notes and not failed and not but and is_second_copy(self._backends, used):
            self._note_avoided(blob)

    def _note_avoided(self, blob: BlobRecord) -> None:
        """Note that the first copy was not tried, because it is damaged or its storage failed."""
        for place in self.find(blob):
            if place.slot == CURRENT and not is_second_copy(self._backends, place) and self.notes:
                is_bad = place.state in {ObjectState.DAMAGED, ObjectState.MISSING}
                problem = "its bytes are damaged" if is_bad else "its storage failed several times"
                self.notes.note(blob, place, problem, Doubt.KNOWN)
                return

    def _note_missing(self, blob: BlobRecord, failed: Sequence[tuple[StoredObject, Exception]]) -> None:
        """Note which second copies failed, too, although nothing has answered."""
        for place, error in failed:
            if place.state in SOUND and is_second_copy(self._backends, place):
                self.note_failed(blob, place, error)

    def _is_still_there(self, seen: StoredObject) -> bool:
        with self._database.reading() as session:
            query = select(StoredObject).where(StoredObject.storage == seen.storage, StoredObject.key == seen.key)
            row = session.scalar(query)
            return row is not None and row.slot == CURRENT and row.state == ObjectState.PRESENT

    def _avoids_first(self, places: Sequence[StoredObject]) -> bool:
        first = places[0]
        return first.state not in SOUND or is_second_copy(self._backends, first) or self._is_skipped(first)

    def _is_skipped(self, place: StoredObject) -> bool:
        return self._backends.breaker.skips(place.storage)


def _doubt(error: Exception) -> Doubt:
    if isinstance(error, BytesMissingError | BlobNotFound):
        return Doubt.MISSING
    if isinstance(error, BlobDamaged | DamagedObjectError):
        return Doubt.WRONG
    return Doubt.KNOWN if isinstance(error, DamagedBaseError) else Doubt.UNREADABLE  # the object itself may be sound
