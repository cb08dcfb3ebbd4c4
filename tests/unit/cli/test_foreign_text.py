"""Texts of clients: no command lets a terminal obey them, or a spreadsheet calculate them."""

import csv
import io

import pytest

EVIL = "=1+1\x1b[2J\n2030-01-01 fake \u009b31m"
RAW = ("\x1b", "\u009b", "\r", "\nfake")


@pytest.fixture
def described(console):
    """A collection whose description is evil; the number of lines that a format prints for one without."""
    console.answer("backup:create-collection", "--filename", "a.sql", "--description", EVIL)


def test_no_format_prints_control_characters(console, described):
    for format_ in ["csv", "value", "yaml", "json", "table"]:
        printed = console.answer("backup:list", "-f", format_)

        assert [] == [character for character in RAW if character in printed], format_


def test_a_line_of_values_stays_one_line(console, described):
    assert 1 == len(console.answer("backup:list", "-f", "value").splitlines())


def test_a_cell_of_csv_is_no_formula(console, described):
    rows = list(csv.reader(io.StringIO(console.answer("backup:list", "-f", "csv")), escapechar="\\"))

    assert [r"'=1+1\x1b[2J\n2030-01-01 fake \u009b31m"] == [cell for cell in rows[1] if "1+1" in cell]
