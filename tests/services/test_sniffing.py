"""Types of contents of which only the head is looked at."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_core.services.sniffing import HEAD_BYTES, sniff

ROWS = [{"name": f'Zoë "{n}" \\ \n', "size": n * -1.5e3, "tags": [True, None, "x" * (n % 90)]} for n in range(900)]


@given(start=st.integers(0, 5000), indent=st.sampled_from([None, 2]), is_ascii=st.booleans())
def test_large_json_is_json_wherever_its_head_ends(start, indent, is_ascii):
    text = json.dumps(["y" * start, *ROWS], indent=indent, ensure_ascii=is_ascii).encode()

    assert sniff(text[:HEAD_BYTES]) == "application/json"


def test_rows_of_sql_are_no_table():
    """A token for plain texts takes each night's dump, however many commas its lines have."""
    statements = b"".join(b"INSERT INTO t VALUES (%d, 'name', NULL);\n" % number for number in range(500))
    rows = b"".join(b"(%d, 'name', NULL),\n" % number for number in range(500))

    assert sniff(statements[:HEAD_BYTES]) == sniff(statements[:4000]) == sniff(rows[:HEAD_BYTES]) == "text/plain"


@pytest.mark.parametrize(
    "start",
    [b"-- MySQL dump 10.13\n", b"--\n-- PostgreSQL database dump\n--\n", b"/*M!999999\\- enable the sandbox mode */\n"],
)
@pytest.mark.parametrize(
    "row",
    [
        b"'<!DOCTYPE html><html><body>Hi</body></html>'",
        b"'#include <stdio.h>\nint main(void) {'",
        b"'import os\ndef f():'",
    ],
)
def test_a_dump_of_sql_is_plain_text_whatever_is_in_its_rows(start, row):
    """Tonight's rows do not decide whether tonight's dump is taken."""
    assert sniff(start + b"INSERT INTO page VALUES (" + row + b");\n") == "text/plain"


def test_a_page_is_one():
    assert sniff(b"<!DOCTYPE html><html><!-- -- --><body>Hi</body></html>") == "text/html"


@pytest.mark.parametrize("line", [b"1,name,\n", b'1,"name (short)",x\r\n', b"1,;,(x)\n"])
def test_a_table_is_one(line):
    assert sniff((line * 1000)[:HEAD_BYTES]) == "text/csv"


@pytest.mark.parametrize(
    "text", [b"{dear reader} this is prose\n", b"[one] a footnote\n[two] another\n", b'{"a": b}\n']
)
def test_other_texts_are_not(text):
    assert sniff((text * 1000)[:HEAD_BYTES]) != "application/json"
