"""How many copies a stored content has, in answers to uploads."""

from frepo_core.services.base.records import BlobRecord

from .models import Reply


class CopyCounts(Reply):
    """How many sound copies of the content there are, and how many there should be."""

    present: int
    wanted: int

    @classmethod
    def of(cls, blob: BlobRecord) -> "CopyCounts | None":
        """Convert the counts; None if they are not known."""
        return None if blob.copies is None else cls(present=blob.copies.present, wanted=blob.copies.wanted)
