"""Fixtures of the worker's tests: a simulated clock, and several workers on one database."""

from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.services.base.lease import Lease, LeaseTerms


class Clock:
    """The database's clock and the clock of a process that cannot be set, both moved by the test."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, 12, tzinfo=UTC)
        self.seconds = 1000.0

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.seconds

    def wait(self, seconds: float) -> None:
        self.seconds += seconds
        self.time += timedelta(seconds=seconds)

    def jump(self, **difference: float) -> None:
        """Set the database's clock; no time has passed."""
        self.time += timedelta(**difference)


@pytest.fixture
def clock(services, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(services.database, "now", clock.now)
    return clock


@pytest.fixture
def make_lease(services, clock):
    """Make a lease as a process of its own sees it."""

    def make(holder, name="worker"):
        return Lease(services.database, name, holder=holder, terms=LeaseTerms(), monotonic=clock.monotonic)

    return make
