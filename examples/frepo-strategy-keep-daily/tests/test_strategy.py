"""The strategy keeps frepo's contract, and days, for any collection that Hypothesis can think of."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_core.plugins import CollectionFull, CollectionState, IncomingVersion, VersionInfo
from frepo_core.testing import StrategyContract
from frepo_strategy_keep_daily import KeepDaily

NOW = datetime(2024, 2, 29, 12, tzinfo=UTC)


class TestKeepDaily(StrategyContract):
    @pytest.fixture
    def strategy(self):
        return KeepDaily()


def make_state(hours_ago, size, **limits):
    """Make a collection of versions with these ages in hours, each of `size` bytes."""
    times = sorted(NOW - timedelta(hours=hours) for hours in hours_ago)
    versions = [
        VersionInfo(id=f"v{number}", number=number, size=size, created_at=time) for number, time in enumerate(times, 1)
    ]
    return CollectionState(
        max_versions=limits.get("max_versions", 0),
        max_size=limits.get("max_size", 0),
        stored_size=size * len(versions),
        versions=versions,
    )


STATES = st.builds(
    make_state,
    st.lists(st.integers(0, 24 * 6), max_size=20),
    st.integers(1, 9),
    max_versions=st.integers(0, 12),
    max_size=st.integers(0, 60),
)
INCOMING = st.builds(IncomingVersion, size=st.integers(1, 70), created_at=st.just(NOW))


def evict(state, incoming):
    """Return the numbers that leave; None is a refusal."""
    try:
        return [version.number for version in KeepDaily().make_room(state, incoming)]
    except CollectionFull:
        return None


def days(state, without=()):
    return {version.created_at.date() for version in state.versions if version.number not in without} | {NOW.date()}


def test_an_earlier_push_of_a_day_leaves_before_an_older_day():
    state = make_state([50, 27, 26, 25], 1, max_versions=4)

    assert [2] == evict(state, IncomingVersion(size=1, created_at=NOW))


def test_a_second_push_today_replaces_the_first():
    state = make_state([50, 26, 1], 1, max_versions=3)

    assert [3] == evict(state, IncomingVersion(size=1, created_at=NOW))


def test_the_oldest_day_leaves_when_every_version_has_its_own():
    state = make_state([72, 48, 24], 1, max_versions=3)

    assert [1] == evict(state, IncomingVersion(size=1, created_at=NOW))


def test_days_are_those_of_utc():
    state = make_state([60, 36.5, 35.5], 1, max_versions=3)

    assert [1] == evict(state, IncomingVersion(size=1, created_at=NOW))


@given(STATES, INCOMING)
def test_a_day_is_lost_only_when_each_has_one_version(state, incoming):
    evicted = evict(state, incoming) or []
    left = [version for version in state.versions if version.number not in evicted]

    assert days(state) == days(state, evicted) or len(left) + 1 == len(days(state, evicted))


@given(STATES, INCOMING)
def test_lost_days_are_the_oldest(state, incoming):
    evicted = evict(state, incoming) or []
    lost = days(state) - days(state, evicted)

    assert sorted(days(state))[: len(lost)] == sorted(lost)


@given(STATES, INCOMING)
def test_one_version_fewer_would_not_do(state, incoming):
    evicted = evict(state, incoming) or []
    fewer = [version for version in state.versions if version.number in evicted[:-1]]

    assert not evicted or not state.has_room(incoming, without=fewer)


@given(STATES, INCOMING)
def test_only_what_the_empty_collection_would_not_take_is_refused(state, incoming):
    assert (evict(state, incoming) is None) == (0 < state.max_size < incoming.size)
