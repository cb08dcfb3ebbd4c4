"""Sizes are parsed as in http-api.md, 4.1; everything else is refused."""

import tomllib
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from frepo_core.domain.sizes import MAX_SIZE, format_size, parse_free_space, parse_size, readable_size
from support.paths import ROOT

EXAMPLES = tomllib.loads((ROOT / "tests/support/sizes.toml").read_text())["examples"]
UNITS = {
    "": 1,
    "B": 1,
    "kB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "TB": 1000**4,
    "KiB": 1024,
    "MiB": 1024**2,
    "GiB": 1024**3,
    "TiB": 1024**4,
}
UNIT = st.sampled_from(sorted(UNITS))
DIGITS = st.text("0123456789", min_size=1, max_size=25)


def in_any_case(text):
    return st.tuples(*(st.sampled_from([letter.lower(), letter.upper()]) for letter in text)).map("".join)


def exact(number, unit):
    """Return the bytes by exact arithmetic; None if they are above the maximum or less than one."""
    value = Fraction(number) * UNITS[unit]
    size = int(value)
    return None if size > MAX_SIZE or (value and not size) else size


def parsed(text):
    try:
        return parse_size(text)
    except ValueError:
        return None


@given(st.integers(-MAX_SIZE, MAX_SIZE))
def test_a_number_is_bytes(size):
    assert (size, size) == (parse_size(size), parse_size(str(size)))


@given(DIGITS, UNIT, st.data())
def test_a_unit_counts_in_any_case(digits, unit, data):
    text = digits + data.draw(in_any_case(unit))

    assert exact(digits, unit) == parsed(text)


@given(DIGITS, DIGITS, UNIT)
@example("0", "5", "B")  # no examples by chance are less than a byte for certain
@example("0", "0", "B")
def test_fractions_of_a_unit_are_exact_and_fractions_of_a_byte_are_dropped(whole, fraction, unit):
    number = f"{whole}.{fraction}"

    assert exact(number, unit) == parsed(number + unit)


def test_examples():
    for text, size in [
        ("1kB", 1000),
        ("1KiB", 1024),
        ("1.5GB", 1_500_000_000),
        ("0.5mib", 524_288),
        ("10 MiB", 10_485_760),
        ("0", 0),
        ("0.0TB", 0),
        ("9223372036854775807", MAX_SIZE),
        ("9223372036854775807.9999999999999999999999B", MAX_SIZE),
    ]:
        assert size == parse_size(text)


def test_other_texts_are_refused_as_sizes():
    for text in [
        "",
        " ",
        "5 parsecs",
        "GB",
        "1.GB",
        ".5GB",
        "1,5GB",
        "1e3",
        "0x10",
        "1_000",
        "+1",
        "--1",
        "- 1",
        " 1",
        "1 ",
        "1\n",
        "1kB\n",
        "1\tkB",
        "1\nkB",
        "1  kB",
        "1 kB extra",
        "1k",
        "1Ki",
        "1BB",
        "1EB",
        "1\u212ab",  # the Kelvin sign
        "\u0661kB",  # an Arabic digit
        "nan",
        "inf",
    ]:
        with pytest.raises(ValueError, match=r"^cannot_parse_disk_space_check_format$"):
            parse_size(text)
            pytest.fail(repr(text))


def test_a_size_beyond_63_bits_is_refused():
    for value in [2**63, -(2**63), "9223372036854775808", "8388608TiB", "9" * 30 + "TB"]:
        with pytest.raises(ValueError, match=r"^cannot_parse_disk_space_check_format$"):
            parse_size(value)
            pytest.fail(repr(value))


def test_less_than_a_byte_does_not_become_no_limit():
    for text in ["0.5", "0.9B", "0.0001kB", "-0.5B"]:
        with pytest.raises(ValueError, match=r"^cannot_parse_disk_space_check_format$"):
            parse_size(text)
            pytest.fail(repr(text))


def test_a_negative_size_has_its_own_error():
    for text, size in [("-1", -1), ("-1.5kB", -1500), ("-2 MiB", -2_097_152)]:
        assert size == parse_size(text)


@given(st.text())
def test_any_text_is_a_size_or_a_value_error(text):
    assert parsed(text) is None or abs(parse_size(text)) <= MAX_SIZE


def test_sizes_are_written_with_two_decimals_in_the_largest_unit():
    for size, text in [
        (0, "0.00B"),
        (999, "999.00B"),
        (1000, "1.00kB"),
        (25_000_000, "25.00MB"),
        (4_000_000_000, "4.00GB"),
        (15_000_000_000, "15.00GB"),
        (2_000_000_000_000_000, "2000.00TB"),
    ]:
        assert text == format_size(size)


def test_sizes_for_people_have_three_digits_and_a_unit():
    assert EXAMPLES == [[size, readable_size(size)] for size, _ in EXAMPLES]
    assert "-4.20 MB" == readable_size(-4_200_000)


@given(st.integers(0, MAX_SIZE))
def test_a_written_size_is_never_rounded_up(size):
    assert parse_size(format_size(size)) <= size


@given(st.integers(0, MAX_SIZE // 2))
def test_a_written_requirement_is_rounded_up(size):
    assert parse_size(format_size(size, up=True)) >= size


@given(st.integers(0, MAX_SIZE), st.booleans())
def test_a_written_size_is_off_by_less_than_a_hundredth_of_its_unit(size, up):
    number = format_size(size, up=up).rstrip("BkMGT")
    unit = format_size(size, up=up).removeprefix(number)

    assert abs(Fraction(number) * UNITS[unit] - size) < Fraction(UNITS[unit], 100)


def test_free_space_is_at_most_all_of_a_storage():
    assert 1000 == parse_free_space("100%").bytes_of(1000)
    for text in ["100.1%", "-1kB"]:
        with pytest.raises(ValueError, match=text):
            parse_free_space(text)
            pytest.fail(text)
