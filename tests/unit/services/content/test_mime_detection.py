"""MIME types are detected from the head of a content."""

import codecs
import json
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_core.services.content.mime_detection import HEAD_BYTES, _detectors, detect_type

DEBIAN_PACKAGE = "application/vnd.debian.binary-package"
ROWS = [{"name": f'Zoë "{n}" \\ \n', "size": n * -1.5e3, "tags": [True, None, "x" * (n % 90)]} for n in range(900)]


@given(start=st.integers(0, 5000), indent=st.sampled_from([None, 2]), is_ascii=st.booleans())
def test_large_json_is_json_wherever_its_head_ends(start, indent, is_ascii):
    text = json.dumps(["y" * start, *ROWS], indent=indent, ensure_ascii=is_ascii).encode()

    assert detect_type(text[:HEAD_BYTES]) == "application/json"


def test_rows_of_sql_are_not_csv():
    """A token for plain text allows each night's dump, whatever number of commas its lines have."""
    statements = b"".join(b"INSERT INTO t VALUES (%d, 'name', NULL);\n" % number for number in range(500))
    rows = b"".join(b"(%d, 'name', NULL),\n" % number for number in range(500))

    assert (
        detect_type(statements[:HEAD_BYTES])
        == detect_type(statements[:4000])
        == detect_type(rows[:HEAD_BYTES])
        == "text/plain"
    )


def test_an_sql_dump_is_plain_text_whatever_its_rows_contain():
    """The rows must not decide whether a dump is accepted."""
    for start in [
        b"-- MySQL dump 10.13\n",
        b"--\n-- PostgreSQL database dump\n--\n",
        b"/*M!999999\\- enable the sandbox mode */\n",
    ]:
        for row in [
            b"'<!DOCTYPE html><html><body>Hi</body></html>'",
            b"'#include <stdio.h>\nint main(void) {'",
            b"'import os\ndef f():'",
        ]:
            assert detect_type(start + b"INSERT INTO page VALUES (" + row + b");\n") == "text/plain"


def test_a_text_that_begins_with_markup_gets_the_type_of_the_markup():
    for encoding in ["utf-8", "utf-8-sig", "utf-16", "latin-1"]:
        for start in ["", "\n \t"]:
            page, data = "<!DOCTYPE html><html><!-- -- --><body>é</body></html>", '<?xml version="1.0"?>\n<a>é</a>\n'

            assert detect_type((start + page).encode(encoding)) == "text/html"
            assert start or detect_type(data.encode(encoding)) == "text/xml"


def test_programs_and_other_texts_are_plain_text():
    for encoding in ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "latin-1"]:
        for program in [
            "#!/bin/sh\necho é\n",
            "#!/usr/bin/env python3\nimport os\ndef é(): pass\n",
            "#include <stdio.h>\nint main(void) { return 0; } // é\n",
            "<?php echo 'é';\n",
            "\\documentclass{article} é\n",
            "From: é\nSubject: a letter\n\nHi\n",
            "x é",
            "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\né\n",
            "\x1b[31mé\x1b[0m\n",
            "A text, with <html><body>é</body></html> in it\n",
        ]:
            mark = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}.get(encoding, b"")

            assert detect_type(mark + program.encode(encoding)) == "text/plain"


def test_a_text_whose_head_ends_within_a_character_is_plain_text():
    """The text contains code that libmagic recognizes only in a complete text."""
    for encoding, mark in [("utf-8", b""), ("utf-16-le", codecs.BOM_UTF16_LE)]:
        for character in ["ż", "€", "\N{GRINNING FACE}"]:
            for shift in range(4):
                text = "#!/bin/sh\n" + "x" * shift + character * HEAD_BYTES

                assert detect_type((mark + text.encode(encoding))[:HEAD_BYTES]) == "text/plain"


def test_a_text_that_ends_within_a_character_is_not_utf_8():
    assert detect_type("é".encode()[:1] + b"\0") == "application/octet-stream"


def test_other_formats_keep_their_type_even_if_all_of_their_bytes_could_be_text():
    for content, mime in [
        (b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n", "application/pdf"),
        (b"-----BEGIN PGP MESSAGE-----\n\nhQEMA\n", "application/pgp-encrypted"),
        (b"!<arch>\ndebian-binary   0           0     0     100644  4         `\n2.0\n", DEBIAN_PACKAGE),
        (tarfile.TarInfo("a.txt").tobuf(), "application/x-tar"),
        (bytes(16), "application/octet-stream"),
        (b"abc\0def", "application/octet-stream"),
    ]:
        assert detect_type(content) == mime


def test_a_text_is_recognized_in_well_under_a_millisecond():
    """libmagic compares a text with all of its rules in 4 to 12 ms; without the rules for texts in 0.1."""
    texts = [b"x" * 4096, b"INSERT INTO t VALUES (1, 'name');\n" * 120, b"# A title\n\n- some *Markdown*\n" * 130]
    detect_type(texts[0])

    started = time.process_time()
    for text in texts * 20:
        detect_type(text)

    assert (time.process_time() - started) / 60 < 0.002


def seconds_for(detect, head: bytes) -> float:
    """Return the processor time. The least of several is that of the work: other work on the same core adds to it."""
    started = time.thread_time()
    detect(head)
    return time.thread_time() - started


@pytest.fixture
def unbounded():
    """The database with all of libmagic's rules, and without the bounds of frepo."""
    import pylibmagic  # before magic, which loads the library that it names
    from magic import Magic

    return Magic(mime=True, magic_file=str(Path(pylibmagic.__file__).with_name("magic.mgc"))).from_buffer


@pytest.mark.costly
def test_a_content_that_is_made_to_cost_much_is_recognized_quickly(unbounded):
    """Without bounds, libmagic searches a head of blanks for a quarter of a second or longer."""
    longest = seconds_for(unbounded, b"\n" * HEAD_BYTES)
    for start in [b"", b"<", b"\x80", b"-----BEGIN PGP ", b"\x7fELF", b"RIFF"]:
        for unit in [b"\n", b" ", b" \n", b"\v(", b"\5", b"@", b"\n" * 255 + b"\x80"]:
            head = (start + unit * HEAD_BYTES)[:HEAD_BYTES]
            detect_type(head)

            assert min(seconds_for(detect_type, head) for _ in range(3)) < longest / 8, (start, unit)


def test_a_format_is_recognized_before_a_long_run_of_one_character():
    assert detect_type(b"<!DOCTYPE html><html>" + b" " * HEAD_BYTES) == "text/html"


def test_libmagic_is_loaded_from_the_wheel():
    """A system's libmagic of another version cannot read the wheel's database."""
    detect = "from frepo_core.services.content.mime_detection import detect_type; detect_type(b'a')"
    script = f"{detect}; import magic; print(magic.libmagic._name)"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert "pylibmagic" in done.stdout


def test_a_csv_table_is_recognized():
    for line in [b"1,name,\n", b'1,"name (short)",x\r\n', b"1,;,(x)\n"]:
        assert detect_type((line * 1000)[:HEAD_BYTES]) == "text/csv"


def test_other_texts_are_not_csv():
    for text in [b"{dear reader} this is prose\n", b"[one] a footnote\n[two] another\n", b'{"a": b}\n']:
        assert detect_type((text * 1000)[:HEAD_BYTES]) != "application/json"


def test_a_new_instance_finds_its_rules_in_any_environment(monkeypatch):
    """Under load, instances are made later than the first one."""
    detect_type(b"")
    monkeypatch.delenv("MAGIC", raising=False)
    _detectors.cache_clear()

    assert "image/png" == detect_type(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(20))
