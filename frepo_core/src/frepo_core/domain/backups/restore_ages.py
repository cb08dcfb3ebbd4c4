"""Says for people how long ago a collection was restore-tested."""

from datetime import datetime

from ..texts.counts import counted


def describe_age(tested_at: datetime | None, now: datetime) -> str:
    """Return a text such as `not restore-tested for 41 days`; None: it never was. Times are in UTC (aware)."""
    if tested_at is None:
        return "never restore-tested"
    age = now - tested_at
    length, unit = (age.days, "day") if age.days else (int(age.total_seconds()) // 3600, "hour")
    return f"not restore-tested for {counted(length, unit)}"
