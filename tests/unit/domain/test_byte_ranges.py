"""Range fields (RFC 9110, 14): invalid ones are ignored, unsatisfiable ones answer 416."""

from hypothesis import given
from hypothesis import strategies as st

from frepo_core.domain.byte_ranges import parse_range

SIZES = st.integers(1, 10**12)
POSITIONS = st.integers(0, 2 * 10**12)


@given(SIZES, POSITIONS, POSITIONS)
def test_first_and_last_are_included_and_the_end_is_cut(size, first, length):
    found = parse_range(f"bytes={first}-{first + length}", size)

    assert ((first, min(first + length + 1, size)) if first < size else (size, size)) == found


@given(SIZES, POSITIONS)
def test_an_open_range_goes_to_the_end(size, first):
    assert (min(first, size), size) == parse_range(f"bytes={first}-", size)


@given(SIZES, st.integers(1, 2 * 10**12))
def test_a_suffix_is_the_last_bytes_or_the_whole(size, length):
    assert parse_range(f"bytes=-{length}", size) == (max(size - length, 0), size)


@given(SIZES)
def test_a_suffix_of_zero_bytes_is_unsatisfiable(size):
    assert parse_range("bytes=-0", size) == (size, size)


@given(SIZES, st.lists(POSITIONS, min_size=2))
def test_several_ranges_are_ignored(size, starts):
    assert parse_range("bytes=" + ", ".join(f"{start}-" for start in starts), size) is None


@given(st.text(), st.integers(0, 1000))
def test_every_parsed_range_lies_in_the_content(text, size):
    start, end = parse_range(f"bytes={text}", size) or (0, size)

    assert 0 <= start <= end <= size


def test_an_invalid_field_is_ignored():
    for header in [
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
        "bytes=0-1,3-4",
        "bytes=500-600,1-2",
        "0-1",
    ]:
        assert parse_range(header, 100) is None


def test_every_range_of_an_empty_content_is_unsatisfiable():
    for header in ["bytes=0-", "bytes=0-0", "bytes=-1"]:
        assert parse_range(header, 0) == (0, 0)
