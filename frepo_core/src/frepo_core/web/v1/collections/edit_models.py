"""The answer to an edit of a collection."""

from frepo_core.services.backups.rotation import next_upload

from ...schemas.models import Reply
from .models import Collection


class NextUpload(Reply):
    """The numbers of the versions that the next upload would evict, if it has the size of the newest version.

    `refused` says why it would be refused; null if it would not.
    """

    evicts: list[int]
    refused: str | None

    @classmethod
    def of(cls, upload: next_upload.NextUpload | None) -> "NextUpload | None":
        """Convert it."""
        return cls(evicts=list(upload.evicts), refused=upload.refusal()) if upload else None


class EditedCollection(Collection):
    """A collection after an edit.

    `next_upload` is null if the edit changed neither the limits nor the minimal retention nor the strategy.
    """

    next_upload: NextUpload | None
