"""Range fields are read as RFC 9110, 14, has them; what is odd is ignored, what cannot be met is a 416."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_core.domain.ranges import MAX_RANGES, parse_ranges

SIZES = st.integers(1, 10**12)
POSITIONS = st.integers(0, 2 * 10**12)


@given(SIZES, POSITIONS, POSITIONS)
def test_first_and_last_are_included_and_the_end_is_cut(size, first, length):
    found = parse_ranges(f"bytes={first}-{first + length}", size)

    assert ([(first, min(first + length + 1, size))] if first < size else []) == found


@given(SIZES, POSITIONS)
def test_an_open_range_goes_to_the_end(size, first):
    assert ([(first, size)] if first < size else []) == parse_ranges(f"bytes={first}-", size)


@given(SIZES, st.integers(1, 2 * 10**12))
def test_a_suffix_is_the_last_bytes_or_the_whole(size, length):
    assert parse_ranges(f"bytes=-{length}", size) == [(max(size - length, 0), size)]


@given(SIZES)
def test_a_suffix_of_nothing_cannot_be_met(size):
    assert parse_ranges("bytes=-0", size) == []


@given(st.integers(0, 200), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), min_size=1, max_size=20))
def test_several_ranges_keep_their_order_and_never_exceed_the_whole(size, pairs):
    found = parse_ranges("bytes=" + ", ".join(f"{min(pair)}-{max(pair)}" for pair in pairs), size)

    met = [(min(pair), min(max(pair) + 1, size)) for pair in pairs if min(pair) < size]
    ignored = len(met) > MAX_RANGES or sum(end - start for start, end in met) > size
    assert (None if ignored else met) == found


@given(st.text(), st.integers(0, 1000))
def test_whatever_is_sent_the_ranges_lie_in_the_content(text, size):
    found = parse_ranges(f"bytes={text}", size) or []

    assert all(0 <= start < end <= size for start, end in found)


@given(st.text(), st.integers(0, 1000))
def test_any_field_can_be_read(text, size):
    assert parse_ranges(text, size) is None or text.partition("=")[0].strip().lower() == "bytes"


@pytest.mark.parametrize(
    "header",
    [
        "",
        "bytes",
        "bytes=",
        "bytes=,",
        "bytes= , ",
        "items=0-1",
        "bytes=1",
        "bytes=-",
        "bytes=5-4",
        "bytes=0-1,5-4",
        "bytes=a-b",
        "bytes=0-1-2",
        "bytes=+1-2",
        "bytes=1 - 2",
        "bytes=0x1-2",
        "bytes=1.0-2",
        "bytes=\u0661-2",
        "bytes=0-9,0-9",
        "bytes=" + ",".join(f"{n}-{n}" for n in range(17)),
        "0-1",
    ],
)
def test_what_is_odd_is_ignored(header):
    assert parse_ranges(header, 100 if "0-9" not in header else 10) is None


@pytest.mark.parametrize(
    ("header", "ranges"),
    [
        ("bytes=0-0", [(0, 1)]),
        ("BYTES=0-0", [(0, 1)]),
        ("bytes=0-0,-1", [(0, 1), (99, 100)]),
        ("bytes=0-0, ,5-5,", [(0, 1), (5, 6)]),
        ("bytes=500-600,1-2", [(1, 3)]),
        ("bytes=100-", []),
        ("bytes=99-", [(99, 100)]),
        ("bytes=0-99999999999999999999999", [(0, 100)]),
        ("bytes=99999999999999999999999-", []),
        ("bytes=-99999999999999999999999", [(0, 100)]),
        ("bytes=0050-0059", [(50, 60)]),
    ],
)
def test_examples(header, ranges):
    assert ranges == parse_ranges(header, 100)


def test_digits_without_end_are_no_bug():
    assert parse_ranges(f"bytes={'9' * 10_000}-", 100) is None


@pytest.mark.parametrize("header", ["bytes=0-", "bytes=0-0", "bytes=-1"])
def test_of_nothing_there_is_no_part(header):
    assert parse_ranges(header, 0) == []
