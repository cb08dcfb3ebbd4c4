"""Until when a version is locked: a doubt about the time counts in favour of the lock."""

from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.domain.backups import locks
from frepo_core.errors import FieldsError, LockShortenedError

NOW = datetime(2026, 11, 28, tzinfo=UTC)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


def test_a_lock_begins_by_the_latest_of_the_clocks():
    assert NOW + 31 * DAY == locks.lock_end(30 * DAY, [NOW, NOW + DAY, NOW - DAY])
    assert locks.lock_end(locks.NONE, [NOW]) is None


def test_a_lock_is_over_only_when_all_clocks_say_so():
    assert locks.is_locked(NOW, [NOW + DAY, NOW - SECOND])
    assert not locks.is_locked(NOW, [NOW + DAY, NOW])
    assert not locks.is_locked(None, [NOW - DAY])


@pytest.mark.parametrize(
    ("until", "before", "after", "expected"),
    [
        (None, 0, 30, 30),
        (100, 30, 60, 130),  # it began by a clock that was fast: it is longer by as much as the collection's
        (100, 0, 30, 100),  # it is locked by itself
        (20, 0, 30, 30),
    ],
)
def test_a_lock_that_is_extended_never_ends_earlier(until, before, after, expected):
    end = until and NOW + until * DAY

    assert NOW + expected * DAY == locks.extended(end, NOW, before=before * DAY, after=after * DAY)


@pytest.mark.parametrize(
    ("length", "before", "is_allowed"), [(30, 0, True), (31, 0, False), (40, 40, True), (41, 40, False)]
)
def test_a_lock_is_at_most_as_long_as_the_service_allows(length, before, is_allowed):
    """What is longer already stays as it is."""

    def check():
        locks.check_length(length * DAY, before * DAY, longest=30 * DAY)

    if is_allowed:
        check()
    else:
        with pytest.raises(FieldsError) as caught:
            check()
        assert "is at most 30d" in caught.value.fields["locked"][0]


def test_a_lock_is_never_shortened():
    locks.check_lock(30 * DAY, 30 * DAY)
    with pytest.raises(LockShortenedError):
        locks.check_lock(30 * DAY, 30 * DAY - SECOND)
