"""The guards of a collection: the smallest size, the largest loss in percent, and the time of retention."""

from datetime import UTC, datetime, timedelta
from typing import get_args

from frepo_core.domain.backups.guards import (
    GUARD_REASONS,
    Guards,
    Objection,
    ReasonName,
    find_strictest,
    name_reason,
)
from frepo_core.errors import VersionGrewError, VersionShrankError, VersionTooSmallError

NOW = datetime(2026, 11, 23, 2, tzinfo=UTC)


def violation(guards, *sizes, **more):
    return type(guards.find_violation(*sizes, **more))


def test_a_version_has_the_smallest_size_or_more():
    guards = Guards(min_version_size=1000)

    assert (VersionTooSmallError, type(None)) == (violation(guards, 999, None), violation(guards, 1000, None))


def test_a_version_loses_the_percentage_or_less():
    guards = Guards(max_shrink_percent=50)

    assert (VersionShrankError, type(None)) == (violation(guards, 499, 1000), violation(guards, 500, 1000))
    assert [type(None)] * 2 == [violation(guards, 0, None), violation(Guards(), 0, 1000)]


def test_a_version_loses_no_part_of_a_percent_more():
    guards = Guards(max_shrink_percent=50)

    assert (VersionShrankError, type(None)) == (violation(guards, 50, 101), violation(guards, 51, 101))


def test_a_version_does_not_shrink_below_what_was_usual_at_the_best_of_times():
    guards = Guards(max_shrink_percent=50)

    assert VersionShrankError is violation(guards, 499, 600, largest=1000)
    assert type(None) is violation(guards, 500, 600, largest=1000)


def test_each_reason_of_a_quarantine_has_a_short_name():
    names = [name_reason(one) for one in (*GUARD_REASONS.values(), "check integrity", "overtaken", None)]

    assert [*get_args(ReasonName), None] == names


def test_a_version_grows_by_the_percentage_or_less():
    guards = Guards(max_growth_percent=300)

    assert (VersionGrewError, type(None)) == (violation(guards, 4001, 1000), violation(guards, 4000, 1000))
    assert [type(None)] * 2 == [violation(guards, 10**9, None), violation(Guards(), 10**9, 1000)]


def test_a_version_is_protected_until_the_end_of_its_retention():
    guards = Guards(min_retention=timedelta(days=7))
    end = NOW - timedelta(days=7)

    assert (True, False) == (guards.protects(end + timedelta(microseconds=1), now=NOW), guards.protects(end, now=NOW))
    assert guards.protects(NOW + timedelta(days=1), now=NOW)
    assert not Guards().protects(NOW, now=NOW)


def test_of_several_objections_the_first_of_the_strictest_decides():
    mark, quarantine, other = (
        Objection(error=VersionShrankError(), action=action, check=check)
        for action, check in (("mark", "a"), ("quarantine", "b"), ("quarantine", "c"))
    )
    refuse = Objection(error=VersionGrewError(), action="refuse")

    assert [quarantine, quarantine, refuse, None] == [
        find_strictest(found) for found in ([mark, quarantine, other], [quarantine, mark], [quarantine, refuse], [])
    ]
