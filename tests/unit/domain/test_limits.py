"""The rules between a collection's limits: numbers, fields, texts and contexts of http-api.md, 4.1."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from frepo_core.domain.limits import COUNT, ONE, TOTAL, Limits, check_limits, infinite_fields
from frepo_core.errors import RuleError

MB, GB = 1000**2, 1000**3
NO_CEILINGS = Limits(versions=0, version_size=0, total_size=0)
CEILINGS = Limits(versions=5, version_size=4 * GB, total_size=15 * GB)


def refusal(asked, *, ceilings=NO_CEILINGS, defaults=NO_CEILINGS, stored=0):
    """Return (number, field, text, context) of the broken rule, or None."""
    limits = replace(defaults, **asked)
    try:
        check_limits(limits, ceilings=ceilings, requested=asked, stored=stored)
    except RuleError as error:
        return error.number, error.field, error.text, error.context
    return None


def test_a_default_limit_is_not_compared_with_the_ceiling():
    assert refusal({}, ceilings=CEILINGS, defaults=Limits(versions=9, version_size=9 * GB, total_size=90 * GB)) is None


@given(st.integers(1), st.sampled_from([COUNT, ONE, TOTAL]))
def test_a_ceiling_of_zero_means_no_ceiling(value, field):
    assert refusal({field: value}) is None


def test_a_disabled_limit_passes_every_ceiling():
    for field in [COUNT, ONE, TOTAL]:
        assert refusal({field: 0}, ceilings=CEILINGS) is None


def test_the_value_that_the_error_names_is_sufficient():
    asked = {COUNT: 3, ONE: 1_234_567, TOTAL: 3_700_000}

    assert {"needsAtLeastValue": "3.71MB"} == refusal(asked)[3]


def test_the_product_is_checked_only_if_all_three_limits_are_requested():
    for missing in [COUNT, ONE, TOTAL]:
        asked = {COUNT: 5, ONE: 5 * MB, TOTAL: 24 * MB}
        defaults = Limits(versions=asked[COUNT], version_size=asked[ONE], total_size=asked[TOTAL])
        del asked[missing]

        assert refusal(asked, defaults=defaults) is None


def test_the_collection_size_may_not_be_set_below_the_stored_size():
    expected = (4004, "limits.total_size", "max_collection_size_is_smaller_than_real_sum_of_data_in_collection", None)

    assert expected == refusal({TOTAL: 9 * MB}, stored=9 * MB + 1)


def test_an_edit_that_holds_the_stored_size_is_accepted():
    for asked in [{TOTAL: 9 * MB}, {TOTAL: 0}, {COUNT: 1}]:
        assert refusal(asked, stored=9 * MB) is None


SIZES = st.one_of(st.just(0), st.integers(1, 2**63 - 1))


@given(st.fixed_dictionaries({}, optional={COUNT: SIZES, ONE: SIZES, TOTAL: SIZES}), SIZES)
def test_accepted_limits_are_consistent(asked, stored):
    limits = Limits(versions=asked.get(COUNT, 0), version_size=asked.get(ONE, 0), total_size=asked.get(TOTAL, 0))

    consistent = not limits.total_size or (
        limits.version_size <= limits.total_size
        and stored <= limits.total_size
        and (len(asked) < 3 or limits.versions * limits.version_size <= limits.total_size)
    )
    assert consistent == (refusal(asked, stored=stored) is None)


@given(st.dictionaries(st.sampled_from([COUNT, ONE, TOTAL]), st.integers(0, 3)))
def test_limits_to_be_disabled_are_named(asked):
    assert {field for field, value in asked.items() if value == 0} == set(infinite_fields(asked))
