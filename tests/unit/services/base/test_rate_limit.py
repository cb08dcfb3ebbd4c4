import pytest

from frepo_core.plugins import LeaseLost
from frepo_core.services.base.rate_limit import RateLimit


class Clock:
    """A clock on which sleeping takes no time."""

    def __init__(self):
        self.now = 0.0
        self.slept = []

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


def limit(clock, rate, keep_going=lambda: None):
    return RateLimit(rate, keep_going=keep_going, sleep=clock.sleep, monotonic=lambda: clock.now)


def test_a_fast_source_is_slowed_to_the_rate(clock):
    pace = limit(clock, 50)

    for _ in range(20):
        pace(100)

    assert 40 == pytest.approx(clock.now)


def test_a_slow_source_is_not_slowed(clock):
    pace = limit(clock, 50)

    for _ in range(20):
        clock.now += 3
        pace(100)

    assert [2.0] * 0 == [seconds for seconds in clock.slept if seconds > 2]
    assert 20 * 5 == pytest.approx(clock.now)


def test_a_pause_of_the_source_earns_no_credit(clock):
    pace = limit(clock, 50)
    pace(100)
    clock.now += 3600
    before = clock.now

    for _ in range(10):
        pace(100)

    assert 20 == pytest.approx(clock.now - before)


def test_without_a_rate_nothing_waits(clock):
    pace = limit(clock, 0)

    for _ in range(100):
        pace(1 << 30)

    assert [] == clock.slept


def test_the_lease_is_checked_once_a_second_also_while_it_waits(clock):
    checks = []
    pace = limit(clock, 10, lambda: checks.append(clock.now))

    pace(100)

    assert 9 <= len(checks) <= 11


def test_a_lost_lease_ends_a_wait(clock):
    def lose():
        if clock.now > 3:
            raise LeaseLost

    with pytest.raises(LeaseLost):
        limit(clock, 1, lose)(1000)

    assert clock.now < 6
