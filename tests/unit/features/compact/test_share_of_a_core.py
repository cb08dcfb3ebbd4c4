import pytest

from frepo_core.features.compact.processor_share import ProcessorShare


class Clock:
    """A clock on which sleeping takes no time, and the processor time that work has used."""

    def __init__(self):
        self.now = self.used = 0.0
        self.noted = 0

    def work(self, seconds, waited=0.0):
        self.now += seconds + waited
        self.used += seconds

    def sleep(self, seconds):
        self.now += seconds

    def note(self):
        self.noted += 1


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def share(clock):
    return ProcessorShare(
        0.25, used=lambda: clock.used, waiting=clock.note, sleep=clock.sleep, monotonic=lambda: clock.now
    )


def test_work_takes_its_share_of_a_processor(clock, share):
    for _ in range(10):
        clock.work(1)
        share()

    assert 40 == pytest.approx(clock.now)


def test_what_waits_anyway_is_not_slowed(clock, share):
    clock.work(1, waited=5)
    share()

    assert 6 == clock.now


def test_a_pause_earns_no_credit(clock, share):
    clock.work(0, waited=1000)
    share()
    clock.work(1)
    share()

    assert 1004 == pytest.approx(clock.now)


def test_who_waits_is_told_twice_a_second(clock, share):
    clock.work(1)
    share()

    assert 6 == clock.noted
