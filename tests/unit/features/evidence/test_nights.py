"""On how many of the expected nights a good backup has arrived."""

from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.features.evidence.nights import MOST, Gap, Period, count_nights

BEGIN = datetime(2026, 8, 1, tzinfo=UTC)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
WEEK = Period(since=BEGIN, until=BEGIN + 7 * DAY, begin=BEGIN)
AT_TWO = "0 2 * * * UTC"


def arrivals(*days, hour=2):
    return [BEGIN + day * DAY + hour * HOUR for day in days]


@pytest.mark.parametrize("every", ["P1D", AT_TWO])
def test_each_night_has_its_backup(every):
    found = count_nights(every, None, arrivals(*range(7)), WEEK)

    assert (7, 7, []) == (found.expected, found.good, found.gaps)


@pytest.mark.parametrize(
    ("every", "begin"), [("P1D", BEGIN + 3 * DAY + 2 * HOUR), (AT_TWO, BEGIN + 3 * DAY + 2 * HOUR)]
)
def test_a_gap_says_how_many_are_missed_and_ends_with_the_next_backup(every, begin):
    found = count_nights(every, None, arrivals(0, 1, 2, 5, 6), WEEK)

    assert (7, 5) == (found.expected, found.good)
    assert [Gap(since=begin, until=BEGIN + 5 * DAY + 2 * HOUR, missed=2)] == found.gaps


def test_two_backups_in_a_night_do_not_stand_for_another_one():
    found = count_nights(AT_TWO, None, sorted(arrivals(0, 1, 2, 3) + arrivals(3, hour=3)), WEEK)

    assert (7, 4) == (found.expected, found.good)
    assert [3] == [gap.missed for gap in found.gaps]


def test_a_backup_that_came_a_little_early_is_for_its_night():
    early = [at - timedelta(minutes=5) for at in arrivals(*range(7))]

    assert 7 == count_nights(AT_TWO, None, early, WEEK).good


def test_a_night_whose_grace_is_not_over_is_not_expected_yet():
    period = Period(since=BEGIN, until=BEGIN + 2 * DAY + 3 * HOUR, begin=BEGIN)

    assert 2 == count_nights(AT_TWO, 2 * HOUR, arrivals(0, 1), period).expected
    assert 3 == count_nights(AT_TWO, HOUR, arrivals(0, 1), period).expected
    assert 3 == count_nights(AT_TWO, 2 * HOUR, arrivals(0, 1, 2), period).good


@pytest.mark.parametrize("every", ["P1D", AT_TWO])
def test_nothing_is_expected_before_the_collection_was_made(every):
    period = Period(since=BEGIN, until=BEGIN + 7 * DAY, begin=BEGIN + 5 * DAY)

    found = count_nights(every, None, arrivals(5, 6), period)

    assert (2, 2) == (found.expected, found.good)


@pytest.mark.parametrize("every", ["PT1M", "* * * * * UTC"])
def test_more_than_can_be_counted_is_said(every):
    long = Period(since=BEGIN, until=BEGIN + (MOST + 1) * timedelta(minutes=1), begin=BEGIN)

    assert None is count_nights(every, None, [], long)


def test_a_time_zone_that_is_not_known_any_more_is_not_counted():
    assert None is count_nights("0 2 * * * Mars/Base", None, [], WEEK)
