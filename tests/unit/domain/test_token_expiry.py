"""Expressions for a token's expiry (http-api.md, 3): dates, sums of time spans, and keywords."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_core.domain.token_expiry import format_expiry, parse_expiry, problem_with_past

NOW = datetime(2026, 1, 31, 10, 20, 30, 5, UTC)
UNITS = {
    "second": timedelta(seconds=1),
    "sec": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "min": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
SPANS = st.tuples(st.integers(0, 999), st.sampled_from(sorted(UNITS)), st.sampled_from(["", "s"]))
MOMENTS = st.datetimes(min_value=datetime(1, 1, 1), timezones=st.just(UTC)).map(lambda m: m.replace(microsecond=0))
PROBLEM = r"^invalid_date_format_and_not_an_expression$"


def end(text, *, now=NOW, default="+30 minutes"):
    return parse_expiry(text, now=now, default=default)


def test_nothing_and_auto_take_the_default():
    for text in [None, "", "  ", "auto", "AUTO", "automatic", " Automatic "]:
        assert NOW + timedelta(minutes=30) == end(text)


def test_never_means_no_expiry():
    for text in ["never", "Never", " NEVER "]:
        assert end(text) is None


def test_a_default_with_blanks_around_it_is_read():
    assert NOW + timedelta(days=1) == end("", default=" +1 day ")


@given(MOMENTS)
def test_a_written_expiry_is_read_back(moment):
    assert moment == end(format_expiry(moment))


@given(st.dates())
def test_a_day_begins_at_midnight(day):
    assert datetime(day.year, day.month, day.day, tzinfo=UTC) == end(day.isoformat())


@given(st.lists(SPANS, min_size=1, max_size=4), st.sampled_from(["", " "]), st.sampled_from(["+", ""]))
def test_spans_are_added_up(spans, blank, sign):
    text = " ".join(f"{sign}{count}{blank}{unit}{plural}" for count, unit, plural in spans)

    assert NOW + sum((count * UNITS[unit] for count, unit, _ in spans), timedelta()) == end(text)


@given(st.integers(0, 2000), st.datetimes(timezones=st.just(UTC), max_value=datetime(2200, 1, 1)))
def test_months_keep_the_day_or_take_the_last_one(months, now):
    found = end(f"+{months} months", now=now)

    assert (now.year * 12 + now.month + months, True) == (
        found.year * 12 + found.month,
        found.day == now.day or (found.day < now.day and (found + timedelta(days=1)).day == 1),
    )


def test_examples():
    for text, moment in [
        ("+30 minutes", NOW + timedelta(minutes=30)),
        ("+10 years", NOW.replace(year=2036)),
        ("+1 month", NOW.replace(month=2, day=28)),
        ("+1 day 2 hours", NOW + timedelta(days=1, hours=2)),
        ("+1 week -1 day", NOW + timedelta(days=6)),
        ("1 HOUR", NOW + timedelta(hours=1)),
        ("tomorrow", datetime(2026, 2, 1, tzinfo=UTC)),
        ("Tomorrow", datetime(2026, 2, 1, tzinfo=UTC)),
    ]:
        assert moment == end(text)


def test_the_last_possible_day_is_accepted():
    last = datetime(9999, 12, 31, tzinfo=UTC)

    assert last == end("+0 months", now=last)


def test_other_expressions_are_refused():
    for text in [
        "soon",
        "+",
        "+1",
        "minutes",
        "+1 fortnight",
        "+1 day and a bit",
        "+1.5 hours",
        "+1 minutess",
        "1e3 days",
        "+1 \u017fecond",  # a long s
        "+1 m\u0131nute",  # a dotless i
        "+\u0661 day",
        "2026-13-01",
        "2026-02-30",
        "2026-1-1",
        "26-01-01",
        "2026-01-01T10:00:00",
        "2026-01-01 10:00",
        "2026-01-01 1:2:3",
        "2026-01-01  10:00:00",
        "2026-01-01\n10:00:00",
        "2026-01-01 24:00:00",
        "2026-01-01 10:00:60",
        "2026-01-01 10:00:00Z",
        "\uff12\uff10\uff12\uff16-01-01",
        "0000-01-01",
        "+99999 years",
        "-99999 years",
        "+999999 weeks",
        "+1 month -9999 years",
        "+7974 years +2 years",
        "never ever",
    ]:
        with pytest.raises(ValueError, match=PROBLEM):
            end(text)
            pytest.fail(repr(text))


def test_an_invalid_default_is_refused():
    for default in ["auto", "", " ", "soon"]:
        with pytest.raises(ValueError, match=PROBLEM):
            end("auto", default=default)
            pytest.fail(repr(default))


def test_a_month_of_the_last_year_is_never_too_long():
    assert datetime(9999, 2, 28, tzinfo=UTC) == end("+1 month", now=datetime(9999, 1, 31, tzinfo=UTC))


@given(st.text())
def test_any_text_is_parsed_or_refused_with_the_documented_error(text):
    try:
        end(text)
    except ValueError as error:
        assert str(error) == "invalid_date_format_and_not_an_expression"


def test_a_token_without_expiry_is_written_as_null():
    assert format_expiry(None) is None


def test_expiries_are_written_in_utc():
    assert format_expiry(datetime.fromisoformat("2026-01-01T01:00:00+02:00")) == "2025-12-31 23:00:00"


def test_a_token_that_ends_now_is_of_the_past():
    assert problem_with_past(NOW, now=NOW)
    assert problem_with_past(NOW + timedelta(microseconds=1), now=NOW) is None
