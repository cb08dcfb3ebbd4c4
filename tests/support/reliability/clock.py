"""Sets the clock of a running service from another process; it affects every function that returns the time of day."""

import datetime as datetimes
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ENVIRONMENT = "FREPO_TEST_CLOCK"


def set_clock(path: Path, seconds: float) -> None:
    """Set the clock to the right time plus `seconds`, which may be negative."""
    ready = path.with_suffix(".new")
    ready.write_text(str(seconds))
    ready.rename(path)


def install() -> None:
    """Follow the file that the environment names; `time.monotonic` is unaffected, as when a real clock is set."""
    path, right_time = Path(os.environ[ENVIRONMENT]), time.time

    def offset() -> float:
        return float(path.read_text()) if path.exists() else 0.0

    from frepo_core.db import types

    time.time = lambda: right_time() + offset()
    types.datetime = clock_of(time.time)  # type: ignore[misc,attr-defined]


def clock_of(read_time: Callable[[], float]) -> type[datetimes.datetime]:
    """Make a `datetime` whose `now` is what the function returns, in seconds since 1970."""

    class Clock(datetimes.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetimes.datetime.fromtimestamp(read_time(), tz)

    return Clock
