"""How many copies a stored content has, in answers about versions and files."""

from collections.abc import Mapping

from frepo_core.services.base.copy_count import CopyCount
from frepo_core.services.base.records import BlobRecord

from .models import Reply


class CopyCounts(Reply):
    """How many sound copies of the content there are, and how many there should be."""

    present: int
    wanted: int

    @classmethod
    def of(cls, blob: BlobRecord, counts: Mapping[int, CopyCount]) -> "CopyCounts | None":
        """Convert the counts: those of an upload, or of `counts` by the ids of blobs. None if it has no second copy."""
        count = blob.copies or counts.get(blob.id)
        return None if count is None else cls(present=count.present, wanted=count.wanted)
