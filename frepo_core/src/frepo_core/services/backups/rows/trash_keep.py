"""How long what leaves a collection stays in the trash: as long as the service says, or shorter."""

from datetime import timedelta

from frepo_core.db.models import Collection
from frepo_core.domain.durations import format_duration, parse_any_duration
from frepo_core.errors import FieldsError

SHORTEST = timedelta(hours=1)


def parse_trash_keep(text: str | None, longest: timedelta) -> int | None:
    """Return the seconds; None for an empty text. `longest` is the time of the service. Raises `FieldsError`."""
    if not text:
        return None
    try:
        length = parse_any_duration(text)
        if length < SHORTEST:
            raise ValueError(f"{text!r:.40} is less than 1 hour, in which nobody could restore what was found broken")
        if length > longest:
            most = format_duration(longest) or "0"
            raise ValueError(f"{text!r:.40} is longer than the service keeps versions: at most {most} (trash.keep)")
    except ValueError as error:
        raise FieldsError({"trash_keep": [str(error)]}, FieldsError.FORM) from None
    return int(length.total_seconds())


def shorter_of(collection: Collection, keep: timedelta) -> timedelta:
    """Return how long a version of the collection stays in the trash; `keep` is the time of the service."""
    return keep if collection.trash_keep is None else min(keep, timedelta(seconds=collection.trash_keep))
