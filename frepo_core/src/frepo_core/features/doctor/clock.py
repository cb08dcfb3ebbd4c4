"""Compares the clocks of this machine, the database and the data: wrong clocks break expiries, deadlines and sweeps."""

from collections.abc import Iterator
from datetime import timedelta

from sqlalchemy import func, select

from frepo_core.db import utc_now
from frepo_core.db.models import Version
from frepo_core.services.composition.container import Services

from .findings import Finding, good, problem

TOLERANCE = timedelta(seconds=10)
_REMEDY = "Synchronize the clocks of all machines, for example with systemd-timesyncd or chrony"


def check_clock(services: Services) -> Iterator[Finding]:
    """Yield whether the clocks agree, and whether a version has a date in the future."""
    difference = abs(services.database.now() - utc_now())
    if difference > TOLERANCE:
        seconds = round(difference.total_seconds())
        yield problem("clock", f"The clocks of this machine and of the database differ by {seconds} s", _REMEDY)
    with services.database.reading() as session:
        newest = session.scalar(select(func.max(Version.created_at)))
    if newest is not None and newest > utc_now() + TOLERANCE:
        yield problem(
            "clock",
            f"A version has the time {newest:%Y-%m-%d %H:%M:%S} UTC, which is in the future: a clock was or is wrong",
            f"{_REMEDY}. Such a version keeps its place by its number, but retention and deadlines wait for its time",
        )
    elif difference <= TOLERANCE:
        yield good("clock", f"It is {utc_now():%Y-%m-%d %H:%M:%S} UTC; the database agrees")
