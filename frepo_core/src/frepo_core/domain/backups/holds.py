"""The hold of a collection: until a person ends it, nothing leaves the collection, and limits evict nothing."""

from datetime import datetime

from frepo_core.errors import CollectionFullError, CollectionHeldError

from ..structs import struct


@struct
class Hold:
    """A hold: since when (UTC), who has set it, as the actor of an event, and why."""

    since: datetime
    by: str
    reason: str

    @property
    def sentence(self) -> str:
        """The sentence that people read where the hold prevents something."""
        return (
            f"The collection is on hold since {self.since:%Y-%m-%d %H:%M} UTC, set by {self.by}: {self.reason}. "
            "Nothing leaves it before the hold is ended"
        )


def held_error(hold: Hold) -> CollectionHeldError:
    """Return the error for what would remove a version of the collection, now or later."""
    return CollectionHeldError(explanation=hold.sentence, context=_context(hold))


def full_error(hold: Hold) -> CollectionFullError:
    """Return the error for a version that does not fit into the limit of the size, for which nothing leaves."""
    sentence = f"{hold.sentence}, and its limit of the size has no room for this version"
    return CollectionFullError(explanation=sentence, context=_context(hold))


def _context(hold: Hold) -> dict[str, object]:
    return {"hold": {"since": hold.since.isoformat(), "by": hold.by, "reason": hold.reason}}
