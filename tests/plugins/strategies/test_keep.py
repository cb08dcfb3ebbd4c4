"""`keep`: its options, its limits, and what gives way when they have no room. test_restic.py has its rules."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from frepo_core.plugins import CollectionFull, IncomingVersion, VersionInfo
from frepo_core.testing import StrategyContract, make_collection
from frepo_core.testing.strategy_contract import incoming
from frepo_strategies import Keep, KeepOptions, frepo_strategies

NO_RULES = dict.fromkeys(("last", "hourly", "daily", "weekly", "monthly", "yearly"), 0)
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


class TestKeep(StrategyContract):
    @pytest.fixture(
        params=[
            KeepOptions(),
            KeepOptions(**NO_RULES),
            KeepOptions(**NO_RULES | {"last": 1}),
            KeepOptions(**NO_RULES | {"within_daily": "2d"}, timezone="Europe/Berlin"),
        ],
        ids=["default", "no rules", "last", "within and timezone"],
    )
    def options(self, request):
        return request.param

    @pytest.fixture
    def strategy(self):
        return Keep()


class TestKeepWithoutOptions(StrategyContract):
    @pytest.fixture
    def strategy(self):
        return Keep()


class TestKeepThatRefuses(StrategyContract):
    @pytest.fixture
    def options(self):
        return KeepOptions(on_full="refuse")

    @pytest.fixture
    def strategy(self):
        return Keep()

    @pytest.fixture
    def evicts(self):
        return False


def collection(*, sizes=(), ages=(), protected=(), bad=(), options=None, **limits):
    """Make a collection of versions by their ages in days at noon, the oldest first."""
    sizes = sizes or [1] * len(ages)
    made = make_collection(sizes, **limits)
    versions = [
        VersionInfo(
            id=f"v{number}",
            number=number,
            size=size,
            created_at=NOON - timedelta(days=age),
            protected=number in protected,
            is_bad=number in bad,
        )
        for number, (size, age) in enumerate(zip(sizes, ages, strict=True), start=1)
    ]
    return replace(made, versions=versions, options=KeepOptions(**options) if options is not None else None)


def evicted(state, size=1):
    return [version.number for version in Keep().make_room(state, IncomingVersion(size=size, created_at=NOON))]


def test_the_default_is_three_last_seven_daily_four_weekly_and_twelve_monthly():
    assert KeepOptions() == KeepOptions(last=3, daily=7, weekly=4, monthly=12, timezone="UTC", on_full="evict")


def test_the_strategy_is_offered_with_its_options():
    spec = next(spec for spec in frepo_strategies() if spec.name == "keep")

    assert spec.options is KeepOptions


def test_a_collection_is_thinned_while_it_has_room():
    state = collection(ages=[3, 2.1, 2, 1], options=NO_RULES | {"daily": 30})

    assert evicted(state) == [2]


def test_bad_versions_take_no_place_of_good_ones():
    """After three bad nights, the three good ones before are still those of the last days."""
    state = collection(ages=[6, 5, 4, 3, 2, 1], bad=[4, 5, 6], options=NO_RULES | {"daily": 4})

    assert evicted(state) == []
    assert evicted(replace(state, versions=[*state.versions[:3], *state.versions[4:]])) == []


def test_the_version_of_a_day_is_a_good_one_if_there_is_any():
    state = collection(ages=[2.2, 2.1, 2, 1.1, 1], bad=[3, 4, 5], options=NO_RULES | {"daily": 30})

    assert evicted(state) == [1, 3, 4]
    assert Keep().explain(state) == {"v1": [], "v2": ["daily"], "v3": [], "v4": [], "v5": ["daily"]}


def test_bad_versions_give_way_before_good_ones_and_are_no_reason_to_refuse():
    state = collection(ages=[3, 2, 1], bad=[2], options={"daily": 30, "on_full": "refuse"}, max_versions=3)

    assert evicted(state) == [2]


def test_without_a_rule_everything_is_kept():
    state = collection(ages=[900, 400, 2.1, 2], options=NO_RULES)

    assert evicted(state) == []


def test_the_incoming_version_counts_as_one_that_is_kept():
    state = collection(ages=[2, 1], options=NO_RULES | {"last": 1})

    assert evicted(state) == [1, 2]


def test_the_longest_period_gives_way_first():
    rules = NO_RULES | {"last": 2, "daily": 3, "monthly": 3}
    state = collection(ages=[60, 30, 2, 1], options=rules)

    assert evicted(state) == []
    assert evicted(replace(state, max_versions=4)) == [1]
    assert evicted(replace(state, max_versions=2)) == [1, 2, 3]


def test_a_version_is_as_strong_as_its_strongest_rule():
    """The version of 8 months ago is kept by `monthly`, and so are the newer ones, which other rules keep as well."""
    state = collection(ages=[240, 9, 1], options=NO_RULES | {"daily": 3, "monthly": 12, "within": "2d"}, max_versions=3)

    assert evicted(state) == [1]
    # Both are kept by `daily`; that `monthly` keeps the one of 31 October, too, makes it no weaker.
    state = collection(ages=[23, 22], options=NO_RULES | {"daily": 3, "monthly": 12}, max_versions=2)
    assert evicted(state) == [1]


def test_the_size_limit_evicts_as_few_as_possible():
    state = collection(sizes=[5, 5, 5, 5], ages=[4, 3, 2, 1], options={}, max_size=20)

    assert evicted(state, size=6) == [1, 2]


def test_the_thinned_versions_may_be_room_enough():
    state = collection(ages=[3, 2.1, 2, 1], options=NO_RULES | {"daily": 30}, max_versions=4)

    assert evicted(state) == [2]


def test_a_full_collection_refuses_if_its_option_says_so():
    state = collection(ages=[3, 2, 1], options={"on_full": "refuse"}, max_versions=3)

    with pytest.raises(CollectionFull, match="on_full"):
        evicted(state)


def test_what_no_rule_keeps_leaves_before_a_full_collection_refuses():
    state = collection(ages=[3, 2.1, 2, 1], options=NO_RULES | {"daily": 30, "on_full": "refuse"}, max_versions=4)

    assert evicted(state) == [2]


def test_protected_versions_stay_while_there_is_room_without_them():
    state = collection(ages=[3, 2, 1.1, 1], protected=[3, 4], options=NO_RULES | {"daily": 30}, max_versions=4)

    assert evicted(state) == [1]


def test_protected_versions_are_the_last_to_make_room():
    state = collection(ages=[2, 1.1, 1], protected=[2, 3], options=NO_RULES | {"daily": 30}, max_versions=2)

    assert evicted(state) == [1, 2]


def test_of_two_versions_with_the_same_time_the_later_number_is_newer():
    state = collection(ages=[1, 1], options=NO_RULES | {"daily": 2})

    assert evicted(state) == [1]


def test_days_begin_at_midnight_in_the_zone():
    at_night = collection(ages=[1.6, 1.4], options=NO_RULES | {"daily": 30})  # 21:36 and 2:24 UTC
    in_new_york = collection(ages=[1.6, 1.4], options=NO_RULES | {"daily": 30, "timezone": "America/New_York"})

    assert (evicted(at_night), evicted(in_new_york)) == ([], [1])


def test_versions_of_a_clock_that_was_fast_are_judged_like_others():
    state = collection(ages=[-400, -400.1, -1], options=NO_RULES | {"last": 2})

    assert evicted(state) == [3]


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("daily", -1, "greater than or equal to 0"),
        ("daily", "many", "valid integer"),
        ("within", "7", "such as 1y6m or 36h"),
        ("within", "2w", "such as 1y6m or 36h"),
        ("within_daily", "-3d", "such as 1y6m or 36h"),
        ("timezone", "Europe/Krakow", "is not a time zone of the server"),
        ("timezone", "../zone", "is not a time zone of the server"),
        ("on_full", "panic", "'evict' or 'refuse'"),
        ("nightly", 3, "not permitted"),
    ],
)
def test_wrong_options_are_refused(option, value, message):
    with pytest.raises(ValidationError, match=message):
        KeepOptions(**{option: value})


@settings(max_examples=50)
@given(st.lists(st.integers(0, 50), max_size=12), st.integers(0, 12), st.integers(0, 300), st.integers(0, 60))
def test_whatever_the_limits_the_new_version_fits_or_could_never_fit(sizes, max_versions, max_size, size):
    state = make_collection(sizes, max_versions=max_versions, max_size=max_size)

    try:
        fits = state.has_room(incoming(size), without=Keep().make_room(state, incoming(size)))
    except CollectionFull:
        fits = 0 < max_size < size

    assert fits


def test_ten_thousand_versions_over_a_lowered_limit_are_sorted_once():
    """The decision is made in a transaction, so it has to be quick even then."""
    state = make_collection([1] * 10_000, max_versions=10)
    state = replace(state, options=KeepOptions(last=10_000))

    assert [version.number for version in Keep().make_room(state, incoming())] == list(range(1, 9992))
