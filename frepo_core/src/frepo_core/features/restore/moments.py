"""Times as people write them who restore: a day, or a time, in the zone of this host if none is given."""

from datetime import datetime, timedelta

from frepo_core.errors import FieldsError


def parse_moment(text: str) -> tuple[datetime, str]:
    """Return the first moment after a day or a time (aware), and a sentence about the zone that was taken, or "".

    Raises `FieldsError` for `--at`.
    """
    try:
        start = datetime.fromisoformat(text)
    except ValueError:
        problem = f"{text!r} is no day or time: write 2026-11-20, '2026-11-20 14:03' or 2026-11-20T14:03:00+01:00"
        raise FieldsError({"--at": [problem]}) from None
    is_day = len(text.strip()) == len("2026-11-20") and "T" not in text
    length = timedelta(days=1) if is_day else timedelta(seconds=1) if text.count(":") > 1 else timedelta(minutes=1)
    end = start + length
    if end.tzinfo is not None:
        return end, ""
    end = end.astimezone()
    what = "The end of that day" if is_day else "The time"
    return (
        end,
        f"{what} is taken in the zone of this host, {end:%Z (UTC%z)}. Write the time with its zone for another one",
    )
