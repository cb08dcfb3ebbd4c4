"""Each validator accepts all values that fit its schema."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from frepo_core.domain.durations import format_iso_duration, parse_any_duration, parse_duration
from frepo_core.domain.naming import check_file_name, check_tag, check_token_name
from frepo_core.domain.sizes import MAX_SIZE, parse_size
from frepo_core.web.conventions import types
from frepo_core.web.schemas import json_schemas

SIZE = json_schemas.SIZE["anyOf"][1]["pattern"]


def test_the_schema_of_a_whole_number_has_its_limits():
    for number, limit in [(types.Whole, MAX_SIZE), (types.Percent, 100)]:
        assert {"type": "integer", "minimum": 0, "maximum": limit} == TypeAdapter(number).json_schema()


@given(st.from_regex(SIZE, fullmatch=True))
def test_a_size_that_fits_is_accepted(text):
    assert 0 <= parse_size(text) <= MAX_SIZE


@given(st.from_regex(json_schemas.DURATION["pattern"], fullmatch=True))
def test_a_length_of_time_that_fits_is_accepted(text):
    assert parse_duration(text).total_seconds() >= 0


@given(st.from_regex(types.DURATION["pattern"], fullmatch=True))
def test_a_duration_that_fits_is_accepted_and_shown_as_one_that_fits(text):
    shown = format_iso_duration(parse_any_duration(text))

    assert re.search(TypeAdapter(types.Duration).json_schema(mode="serialization")["pattern"], shown)


def test_durations_as_people_write_them_fit():
    for text in ["P1D", "PT6H", "PT1M37S", "P1DT12H30M", "2w", "P99999W"]:
        assert re.search(TypeAdapter(types.Duration).json_schema()["pattern"], text)


@given(st.from_regex(json_schemas.TAG["pattern"], fullmatch=True))
def test_a_tag_that_fits_is_accepted(text):
    assert check_tag(text) == text.lower()


@pytest.mark.costly
@given(st.from_regex(json_schemas.FILE_NAME["pattern"], fullmatch=True).filter(lambda name: name not in {".", ".."}))
def test_a_file_name_that_fits_is_accepted(name):
    assert check_file_name(name)


@given(st.from_regex(json_schemas.TOKEN_NAME["pattern"], fullmatch=True))
def test_a_token_name_that_fits_is_accepted(name):
    assert check_token_name(name)


def test_token_names_as_people_write_them_fit():
    for name in ["0*", "<db7>", 'db "7"', "a/b\\c", "żółw"]:
        assert re.search(json_schemas.TOKEN_NAME["pattern"], name)


def test_names_as_people_write_them_fit():
    for name in ["żółw zdjęcie.png", "Mike's cat.png", "a&b.png", "100%.png", "北京.png", "мир", "한국어"]:
        assert re.search(json_schemas.FILE_NAME["pattern"], name)


def test_sizes_as_people_write_them_fit():
    for text in ["0", "0.0", "007", "1.5GB", "10 MiB", "0.001kB", "0.5 tib", "4b"]:
        assert re.search(SIZE, text)


def test_sizes_that_are_refused_do_not_fit():
    for text in ["0.5", "0.0001kB", "1 ", "-1", "GB", "9999999TB"]:
        assert not re.search(SIZE, text)
