"""The clock of a service's process, set from outside while it runs: everything that asks for the time of day sees it."""

import datetime as datetimes
import os
import time
from pathlib import Path
from typing import Any

ENVIRONMENT = "FREPO_TEST_CLOCK"


def set_clock(path: Path, seconds: float) -> None:
    """Set the clock so many seconds beside the right time."""
    ready = path.with_suffix(".new")
    ready.write_text(str(seconds))
    ready.rename(path)


def install() -> None:
    """Go by the file that the environment names; `time.monotonic` is what a set clock does not touch."""
    path, right_time = Path(os.environ[ENVIRONMENT]), time.time

    def offset() -> float:
        return float(path.read_text()) if path.exists() else 0.0

    class Clock(datetimes.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetimes.datetime.fromtimestamp(right_time() + offset(), tz)

    from frepo_core.db import types

    time.time = lambda: right_time() + offset()
    types.datetime = Clock  # type: ignore[misc,attr-defined]
