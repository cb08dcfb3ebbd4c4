"""What a collection's guards remember of its good versions, and what they find odd about the next one."""

from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.domain.backups.baseline import Baseline
from frepo_core.domain.backups.content_kinds import ContentKind
from frepo_core.domain.backups.verdicts import Verdict

START = datetime(2026, 9, 1, 2, tzinfo=UTC)
NIGHT = timedelta(days=1)


def content(*kinds, database="", verdict=Verdict.COMPLETE):
    return ContentKind(kinds=kinds, database=database, verdict=verdict)


SHOP = content("gzip", "PostgreSQL dump", database="shop")


def after(*contents, size=100):
    baseline = Baseline()
    for night, one in enumerate(contents):
        baseline = baseline.after_good(size, one, START + night * NIGHT)
    return baseline


def after_sizes(*sizes):
    baseline = Baseline()
    for night, size in enumerate(sizes):
        baseline = baseline.after_good(size, None, START + night * NIGHT)
    return baseline


def test_a_baseline_is_stored_as_json_and_read_again():
    baseline = after(SHOP, SHOP, SHOP).after_digest("ab", START).after_oddity(content("MySQL dump"), START)

    assert baseline == Baseline.load(baseline.dump())
    assert Baseline() == Baseline.load(None) == Baseline.load({})


def test_the_median_is_that_of_the_last_fourteen_sizes():
    assert (None, None, 20) == (after_sizes().median(), after_sizes(10, 20).median(), after_sizes(10, 90, 20).median())
    assert 5 == after_sizes(*[100] * 30, *[5] * 14).median()


def test_the_largest_median_is_remembered_for_sixty_days():
    baseline = after_sizes(*[100] * 14, *[50] * 14)
    last_day = START + 19 * NIGHT  # the last one on which half of the sizes were large

    assert 100 == baseline.largest_median(last_day + timedelta(days=60))
    assert 50 == baseline.largest_median(last_day + timedelta(days=62))
    assert 0 == after_sizes(100, 100).largest_median(START)


def test_a_baseline_stays_small_while_sizes_shrink_every_night():
    baseline = after_sizes(*range(10_000, 0, -10))

    assert len(str(baseline.dump())) < 3000


def test_equal_contents_are_counted_once_a_day_until_another_one_arrives():
    baseline = Baseline()
    for hours in (0, 1, 24, 25, 48):
        baseline = baseline.after_digest("ab", START + timedelta(hours=hours))

    assert 2 == baseline.unchanged_nights
    assert 0 == baseline.after_digest("cd", START + 3 * NIGHT).unchanged_nights


def test_a_content_is_unchanged_on_a_later_day_and_a_repetition_on_the_same_day_is_not():
    baseline = Baseline().after_digest("ab", START)

    later = START + NIGHT
    assert (0, 1, 0) == (
        baseline.days_unchanged("ab", START),
        baseline.days_unchanged("ab", later),
        baseline.days_unchanged("cd", later),
    )


def test_how_long_a_content_is_unchanged_is_known_of_baselines_without_its_first_day():
    baseline = Baseline()
    for night in range(4):
        baseline = baseline.after_digest("ab", START + night * NIGHT)
    old = {name: value for name, value in baseline.dump().items() if name != "since"}

    assert 7 == Baseline.load(old).days_unchanged("ab", START + 7 * NIGHT)


ODD = [
    (content("gzip"), "(gzip)"),
    (content("text", verdict=Verdict.UNCHECKED), "(text)"),
    (content("gzip", "HTML"), "(HTML in gzip)"),
    (content(verdict=Verdict.UNCHECKED), "(an unknown format)"),
    (content("empty"), "(empty)"),
    (content("gzip", "MySQL dump", database="shop"), "MySQL dump"),
    (content("tar"), "It is tar"),
    (content("gzip", "PostgreSQL dump", database="wiki"), "the database wiki"),
    (content("gzip", "PostgreSQL dump", verdict=Verdict.UNCHECKED), "could not be checked"),
]


@pytest.mark.parametrize(("odd", "reason"), ODD, ids=str)
def test_another_content_than_the_last_three_is_odd(odd, reason):
    assert reason in after(SHOP, SHOP, SHOP).find_oddity(odd, START)
    assert not after(SHOP, SHOP).find_oddity(odd, START)


ALIKE = [
    (SHOP, content("zstd", "PostgreSQL dump", database="shop")),
    (SHOP, content("PostgreSQL archive", database="shop")),
    (SHOP, content("gzip", "PostgreSQL dump")),
    (SHOP, content("age", verdict=Verdict.WHOLE)),
    (SHOP, content("openpgp", verdict=Verdict.UNCHECKED)),
    (content("gzip", "tar", verdict=Verdict.WHOLE), content("zip", verdict=Verdict.UNCHECKED)),
    (content("gzip", verdict=Verdict.WHOLE), content("text")),
    (content(), content("gzip", "PostgreSQL dump")),
]


@pytest.mark.parametrize(("before", "now"), ALIKE, ids=str)
def test_other_packing_of_the_same_content_and_what_was_never_known_is_not_odd(before, now):
    assert "" == after(before, before, before).find_oddity(now, START)


def test_a_change_of_formats_is_described():
    baseline = after(SHOP)

    assert "" == baseline.find_change(SHOP) == Baseline().find_change(SHOP)
    assert "It is PostgreSQL dump in zstd, before it was PostgreSQL dump in gzip" == baseline.find_change(
        content("zstd", "PostgreSQL dump", database="shop")
    )


def test_two_programs_that_take_turns_are_both_expected():
    other = content("gzip", "MySQL dump")
    baseline = after(SHOP, other, SHOP)

    assert "" == baseline.find_oddity(other, START) == baseline.find_oddity(SHOP, START)


@pytest.mark.parametrize(
    ("kind", "hours", "is_accepted"),
    [
        (content("MySQL dump"), 24, True),
        (content("MySQL dump", verdict=Verdict.WHOLE), 24, True),
        (content("MySQL dump"), 1, False),
        (content("MySQL dump", verdict=Verdict.UNCHECKED), 24, False),
        (content("gzip"), 24, False),
        (content("PostgreSQL dump", database="wiki"), 24, False),
    ],
    ids=str,
)
def test_a_new_format_is_accepted_on_its_second_night_if_it_is_whole(kind, hours, is_accepted):
    baseline = after(SHOP, SHOP, SHOP)
    seen = baseline.after_oddity(kind, START)

    assert baseline.find_oddity(kind, START + timedelta(hours=hours))
    assert is_accepted == (not seen.find_oddity(kind, START + timedelta(hours=hours)))


def test_a_new_format_is_not_accepted_if_it_comes_again_unchecked():
    baseline = after(SHOP, SHOP, SHOP).after_oddity(content("MySQL dump"), START)

    assert baseline.find_oddity(content("MySQL dump", verdict=Verdict.UNCHECKED), START + NIGHT)
    assert not baseline.find_oddity(content("MySQL dump"), START + NIGHT)


def test_a_good_version_of_the_old_format_ends_the_wait_for_the_new_one():
    new = content("MySQL dump")
    baseline = after(SHOP, SHOP, SHOP).after_oddity(new, START).after_good(100, SHOP, START + NIGHT)

    assert baseline.find_oddity(new, START + 2 * NIGHT)


def test_the_compression_of_a_content_is_that_of_all_of_it():
    found = {
        ("gzip", "PostgreSQL dump"): "gzip",
        ("zstd",): "zstd",
        ("PostgreSQL dump",): "",
        ("tar", "gzip"): "",
        ("age",): "",
        (): "",
    }

    assert found == {kinds: ContentKind(kinds=kinds).compression for kinds in found}


DUMP, LOG = content("gzip", "PostgreSQL dump", verdict=Verdict.PENDING), content("gzip", "log")


def test_what_waits_is_compared_with_an_earlier_one_that_waits_and_not_with_itself_or_a_later_one():
    waiting = Baseline().after_pending(5000, DUMP, START).after_pending(90, LOG, START + NIGHT)

    assert waiting == Baseline.load(waiting.dump())
    assert DUMP == waiting.awaited.content
    assert waiting.before(START + NIGHT).find_unrecognised(LOG, 90)
    for at in (START, START - NIGHT):
        assert not waiting.before(at).find_unrecognised(LOG, 90)


def test_the_size_of_what_waits_counts_for_a_log_after_a_text():
    waiting = Baseline().after_pending(1000, content("gzip", "plain text", verdict=Verdict.PENDING), START)

    assert [True, False] == [bool(waiting.find_unrecognised(LOG, size)) for size in (499, 500)]


def test_what_an_earlier_version_has_noted_of_one_that_waits_is_dropped():
    assert Baseline() == Baseline.load(Baseline().dump() | {"awaited": [["gzip"], "", "pending"]})
