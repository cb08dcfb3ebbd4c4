"""The options that a collection has for the strategy `keep`."""

import functools
from datetime import UTC, tzinfo
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from frepo_core.plugins import StrategyOptions

from .durations import parse_duration


def _checked_duration(text: str) -> str:
    parse_duration(text)
    return text


@functools.lru_cache(maxsize=1024)
def find_zone(name: str) -> tzinfo:
    """Return a time zone. Raises `ValueError` with a message for the user."""
    if name == "UTC":  # known without the system's database of time zones
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError("is not a time zone of the server; write UTC, or e.g. Europe/Berlin") from None


def _checked_zone(name: str) -> str:
    find_zone(name)
    return name


Count = Annotated[int, Field(ge=0, le=1_000_000)]
DurationText = Annotated[str, Field(max_length=32), AfterValidator(_checked_duration)]


class KeepOptions(StrategyOptions):
    """How many versions are kept, as with `restic forget --keep-last 3 --keep-daily 7`; 0 and "" switch a rule off."""

    last: Count = Field(3, description="Keep the newest versions, this many.")
    hourly: Count = Field(0, description="Keep the newest version of each of the last hours that have one.")
    daily: Count = Field(7, description="Keep the newest version of each of the last days that have one.")
    weekly: Count = Field(4, description="Keep the newest version of each of the last ISO weeks that have one.")
    monthly: Count = Field(12, description="Keep the newest version of each of the last months that have one.")
    yearly: Count = Field(0, description="Keep the newest version of each of the last years that have one.")
    within: DurationText = Field("", description="Keep all versions of this time before the newest, e.g. 1y6m7d12h.")
    within_hourly: DurationText = Field("", description="Keep the newest version of each hour of this time.")
    within_daily: DurationText = Field("", description="Keep the newest version of each day of this time.")
    within_weekly: DurationText = Field("", description="Keep the newest version of each ISO week of this time.")
    within_monthly: DurationText = Field("", description="Keep the newest version of each month of this time.")
    within_yearly: DurationText = Field("", description="Keep the newest version of each year of this time.")
    timezone: Annotated[str, Field(max_length=64), AfterValidator(_checked_zone)] = Field(
        "UTC", description="Where hours, days, weeks, months and years begin, e.g. Europe/Berlin."
    )
    on_full: Literal["evict", "refuse"] = Field(
        "evict",
        description="If the limits have no room for what the rules keep: evict versions, or refuse the new one.",
    )
