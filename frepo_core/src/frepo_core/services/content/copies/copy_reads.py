"""Reads a content from its second copy when the first one is missing, unreachable, short or known to be damaged."""

from collections.abc import Callable
from typing import BinaryIO, TypeVar

from sqlalchemy import select

from frepo_core.db import Database
from frepo_core.db.models import Blob, BlobCopy
from frepo_core.errors import (
    BlobDamaged,
    BlobNotFound,
    BytesMissingError,
    DamagedBaseError,
    DamagedObjectError,
    FrepoError,
    ReadersBusyError,
)

from ...base.records import BlobRecord
from ..chains.chain_places import Place, first_place, place_of
from ..chains.chain_reader import ChainReader
from ..storages.backends import Backends
from .fallback_notes import Doubt, FallbackNotes
from .states import CopyState

Result = TypeVar("Result")
# What reading from a storage may raise.
READ_FAILURES = (FrepoError, OSError)


class NoCopyError(Exception):
    """There is no second copy that can be read."""


class CopyReads:
    """The second copies, for readers. What fails is noted: by an event, in the states of storages, and at the copy."""

    def __init__(self, database: Database, backends: Backends, chains: ChainReader, notes: FallbackNotes) -> None:
        self._chains = chains
        self._database = database
        self._backends = backends
        self.notes = notes

    def avoids_first(self, blob: BlobRecord) -> bool:
        """Return whether the first copy is not tried: it is damaged, or its storage failed several times just now."""
        return blob.is_damaged or self._backends.breaker.skips(blob.storage)

    def exists(self, blob: BlobRecord) -> bool:
        """Return whether the content has a second copy."""
        return bool(self._find(blob))

    def use(self, blob: BlobRecord, use: Callable[[Place], Result], but: Place | None = None) -> Result:
        """Call `use` with each second copy until it succeeds. Raises `NoCopyError` if it does with none."""
        for place in self._find(blob):
            if place == but:
                continue
            try:
                result = use(place)
            except ReadersBusyError:
                raise
            except READ_FAILURES as error:
                self.note_failed(blob, place, error)
            else:
                self._backends.breaker.worked(place.storage)
                return result
        raise NoCopyError

    def open_other(self, blob: BlobRecord, failed: Place, start: int, length: int | None, error: Exception) -> BinaryIO:
        """Open `length` bytes from `start` of another copy than the one that has failed, and note the failure.

        Raises `error` if there is none.
        """
        self.note_failed(blob, failed, error)
        try:
            return self.use(blob, lambda place: self._chains.open_part(place, blob.digest, start, length), but=failed)
        except NoCopyError:
            raise error from None

    def note_failed(self, blob: BlobRecord, place: Place, error: Exception) -> None:
        """Note that a copy could not be read. If its bytes are certainly missing, mark it."""
        problem = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
        doubt = _doubt(error)
        if doubt is Doubt.UNREADABLE:
            self._backends.breaker.failed(place.storage)
        self.notes.note(blob, place, problem, doubt)

    def note_avoided(self, blob: BlobRecord) -> None:
        """Note that the first copy was not tried."""
        problem = "its bytes are damaged" if blob.is_damaged else "its storage failed several times"
        self.notes.note(blob, first_place(blob), problem, Doubt.KNOWN)

    def note_wrong(self, blob: BlobRecord, place: Place) -> None:
        """Mark a copy whose bytes are not those that were stored."""
        self.notes.note(blob, place, "its content is not what was stored", Doubt.WRONG)

    def _find(self, blob: BlobRecord) -> list[Place]:
        """Return the second copies in storages that work; also what has become the first one meanwhile."""
        query = select(BlobCopy).where(BlobCopy.blob_id == blob.id, BlobCopy.state == CopyState.PRESENT.value)
        moved = select(Blob).where(Blob.id == blob.id, Blob.key != blob.key)
        with self._database.reading() as session:
            places = [place_of(row) for row in [*session.scalars(moved), *session.scalars(query)]]
        return [place for place in places if not self._backends.breaker.skips(place.storage)]


def _doubt(error: Exception) -> Doubt:
    if isinstance(error, BytesMissingError | BlobNotFound):
        return Doubt.MISSING
    if isinstance(error, BlobDamaged | DamagedObjectError):
        return Doubt.WRONG
    return Doubt.KNOWN if isinstance(error, DamagedBaseError) else Doubt.UNREADABLE  # the object itself may be sound
