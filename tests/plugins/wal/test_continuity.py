"""What an archive lacks, from when until when it can be restored, and what nobody needs: without a service."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_wal.bases import Base
from frepo_wal.continuity import (
    Gap,
    Segments,
    choose_base,
    find_gaps,
    find_windows,
    lineage,
    needless,
    unknown_parents,
)

SIZE = 1 << 20
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def at(hours):
    return BEGIN + timedelta(hours=hours)


def archive(parents=None, **timelines):
    """Return segments of timelines `t1`, `t2`, each of which arrived at the hour of its number."""
    arrived = {int(name[1:]): {index: at(index) for index in indexes} for name, indexes in timelines.items()}
    return Segments(size=SIZE, arrived=arrived, parents=parents or {})


def base(first, last, *, number=1, timeline=1, hour=None, is_usable=True):
    """Return a base backup that needs the segments from the first to the last."""
    return Base(
        number=number,
        timeline=timeline,
        start=first * SIZE + 40,
        stop=last * SIZE + 256,
        system=1,
        at=at(last if hour is None else hour),
        is_usable=is_usable,
    )


def test_a_gap_is_what_is_missing_between_the_base_and_the_newest_segment():
    segments = archive(t1=[1, 2, 5, 6, 8])

    assert [Gap(timeline=1, first=3, last=4), Gap(timeline=1, first=7, last=7)] == find_gaps(segments, 2)
    assert [Gap(timeline=1, first=7, last=7)] == find_gaps(segments, 5)
    assert [] == find_gaps(archive(t1=[4, 5]), None)


def test_what_a_base_needs_is_missing_if_it_is_before_the_first_segment():
    assert [Gap(timeline=1, first=2, last=3)] == find_gaps(archive(t1=[4, 5]), 2)


def test_a_window_ends_at_a_gap_and_the_next_one_begins_with_the_next_base():
    segments = archive(t1=[1, 2, 3, 5, 6, 7])

    windows = find_windows(segments, [base(1, 1, number=1), base(2, 2, number=2), base(5, 6, number=3)])

    assert [(3, at(6), at(7)), (1, at(1), at(3))] == [(one.base, one.since, one.until) for one in windows]


def test_a_base_whose_own_segments_are_missing_restores_nothing():
    assert [] == find_windows(archive(t1=[1, 3, 4]), [base(1, 2)])
    assert None is choose_base(archive(t1=[1, 3, 4]), [base(1, 2)], at(9))


def test_the_newest_base_before_the_moment_is_chosen():
    segments = archive(t1=range(1, 10))
    bases = [base(1, 1, number=1), base(4, 5, number=2), base(7, 7, number=3), base(6, 6, number=4, is_usable=False)]

    chosen = [choose_base(segments, bases, moment) for moment in (at(0), at(3), at(6), None)]

    assert [None, 1, 2, 3] == [one and one.number for one in chosen]


def test_a_new_timeline_goes_on_where_the_old_one_was_left():
    """The old primary wrote on for a while: segments 5 and 6 of timeline 1 are on no way."""
    segments = archive({2: (1, 4 * SIZE + 99)}, t1=[1, 2, 3, 5, 6], t2=[4, 5, 7])

    assert [(1, 0), (2, 4)] == lineage(segments)
    assert [Gap(timeline=2, first=6, last=6)] == find_gaps(segments, 1)
    assert [(at(1), at(5))] == [(one.since, one.until) for one in find_windows(segments, [base(1, 1)])]


def test_a_gap_over_a_switch_is_named_on_both_timelines():
    segments = archive({2: (1, 4 * SIZE)}, t1=[1, 2], t2=[5])

    assert [Gap(timeline=1, first=3, last=3), Gap(timeline=2, first=4, last=4)] == find_gaps(segments, 1)


def test_a_base_of_a_branch_that_was_left_is_not_chosen():
    segments = archive({2: (1, 4 * SIZE)}, t1=range(1, 8), t2=range(4, 9))

    assert None is choose_base(segments, [base(5, 5)], None)
    assert [] == find_windows(segments, [base(5, 5)])


def test_a_timeline_without_its_history_is_named():
    assert [3] == unknown_parents(archive({2: (1, SIZE)}, t1=[1], t3=[2]))
    assert [] == unknown_parents(archive({2: (1, SIZE)}, t1=[1], t2=[2]))
    assert [] == unknown_parents(archive(t1=[1]))


@pytest.mark.parametrize(
    ("keep_days", "ranges"),
    [(0, [(0, 1)]), (7, [(0, 1), (4, 5), (7, 9)])],
)
def test_of_bases_older_than_the_points_only_their_own_segments_stay(keep_days, ranges):
    now = at(24 * 30)
    bases = [base(2, 3, hour=1), base(6, 6, hour=10), base(10, 12, hour=20), base(20, 21, hour=24 * 29)]

    assert ranges == needless(archive(t1=range(30)), bases, keep_days, now)


def test_a_base_in_the_trash_keeps_its_segments():
    assert [(0, 1)] == needless(archive(t1=range(9)), [base(2, 3, is_usable=False), base(5, 5)], 0, at(9))


def test_without_a_base_everything_stays():
    assert [] == needless(archive(t1=range(9)), [], 7, at(9999))


BASES = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 5), st.integers(0, 900), st.booleans()), min_size=1, max_size=6
).map(
    lambda rows: [
        base(first, first + more, number=n, hour=hour, is_usable=ok) for n, (first, more, hour, ok) in enumerate(rows)
    ]
)


@given(BASES, st.integers(0, 40))
def test_what_a_base_needs_is_never_deleted(bases, keep_days):
    gone = {
        one
        for first, last in needless(archive(t1=range(60)), bases, keep_days, at(1000))
        for one in range(first, last + 1)
    }

    for one in bases:
        assert not gone & set(range(one.start // SIZE, one.stop // SIZE + 1))


@given(BASES, st.integers(1, 40))
def test_each_point_of_the_last_days_can_still_be_restored(bases, keep_days):
    """From the newest usable base that was there at the point, on to the newest segment."""
    gone = {
        one
        for first, last in needless(archive(t1=range(60)), bases, keep_days, at(1000))
        for one in range(first, last + 1)
    }
    point = at(1000) - timedelta(days=keep_days)

    before = [one.start for one in bases if one.is_usable and one.at <= point]
    if before:
        assert not gone & set(range(max(before) // SIZE, 60))
