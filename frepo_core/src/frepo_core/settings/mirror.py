"""The settings of second copies."""

from datetime import timedelta

from pydantic import BaseModel

from .declaration import harmless, setting
from .types import Duration, Rate


class MirrorSettings(BaseModel, defer_build=True):
    """The setting `mirror`, and those whose names begin with `mirror.`."""

    mirror: str = harmless(
        "mirror", "", "The storage that gets a second copy of each content; empty: there are no second copies."
    )
    mirror_wait: Duration = setting(
        "mirror.wait",
        "0s",
        "How long the answer to an upload waits for its second copy. After that it says that there is one copy.",
        ge=timedelta(),
        le=timedelta(minutes=10),
    )
    mirror_delete_delay: Duration = setting(
        "mirror.delete_delay",
        "7d",
        "How long the second copy of a content stays after the content was deleted for good.",
        ge=timedelta(),
        le=timedelta(days=36500),
    )
    mirror_max_lag: Duration = setting(
        "mirror.max_lag",
        "1d",
        "If a content has waited longer for its second copy, that is an event, and `/health` says so.",
        gt=timedelta(),
    )
    mirror_rate: Rate = setting(
        "mirror.rate", "20MB", "How many bytes a second the job `mirror` copies at most, 100 kB or more; 0: no limit."
    )
