"""The port of second copies: what the nucleus asks for them. Without the feature, there are none."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import BinaryIO, Protocol, TypeAlias

from sqlalchemy.orm import Session

from frepo_core.db.models import StoredObject

from ..base.records import BlobRecord
from ..base.records.file_records import CopyCount

# Opens another object from a position to the end of the part, or raises the error with which the one before has failed.
OpenOther: TypeAlias = Callable[[int, Exception], BinaryIO]


class Doubt(Enum):
    """What a reader found: bytes that are missing or short, that could not be read, or that are wrong.

    `KNOWN`: it did not try, because this is known already.
    """

    MISSING = auto()
    UNREADABLE = auto()
    WRONG = auto()
    KNOWN = auto()


class Fallbacks(Protocol):
    """What becomes of a content whose first copy cannot be read, or not to its end."""

    def note(self, blob: BlobRecord, place: StoredObject, problem: str, doubt: Doubt) -> None:
        """Note that one copy of a content could not be used. Never raises."""

    def continued(self, content: BinaryIO, start: int, length: int, open_other: OpenOther) -> BinaryIO:
        """Return the stream of `length` bytes from `start`, which another object continues if this one fails."""

    def continued_file(self, file: BinaryIO, size: int, open_other: OpenOther) -> BinaryIO:
        """Return a local file of `size` bytes, which another object continues if it fails."""


class Copies:
    """What is asked of second copies. This is the empty form, of a service without the feature: there are none.

    `fallbacks` is None where no content can have a second copy.
    """

    fallbacks: Fallbacks | None = None

    def want(
        self, session: Session, blob: BlobRecord, storage: str, current: Mapping[str, StoredObject]
    ) -> CopyCount | None:
        """Note in the transaction of an upload that its content wants a copy in this storage.

        `current` are the current objects of a content that was known, by storage. Return how many sound copies there
        are, and how many there should be; None if nothing makes copies.
        """
        return None

    def wait_for(self, content_id: int, storage: str) -> bool:
        """Return whether the copy that an upload wants is there before its wait is over. Never raises."""
        return False

    def note_mirror_change(self, session: Session, collection_id: str) -> None:
        """Note in the transaction that a collection wants its copies in another storage."""

    def count(self, blobs: Sequence[BlobRecord]) -> Mapping[int, CopyCount]:
        """Return by the ids of blobs how many sound copies they have, and how many they should have.

        Blobs that have no second copy, and shall have none, are left out.
        """
        return {}

    def storages(self) -> Sequence[str]:
        """Return the configured storages that hold second copies, or shall get objects, by name."""
        return ()
