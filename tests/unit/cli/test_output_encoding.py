"""A terminal, or a pipe, whose encoding lacks characters of a name: they are escaped, and no command fails."""

import io
import json

import pytest

from frepo_core.cli.output_encoding import accept_all_characters

NAME = "żłw 東京 😀"
ID = "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001"


@pytest.mark.costly
def test_a_name_outside_the_encoding_is_listed(console):
    console.answer("backup:create-collection", "-f", "a", "--id", ID, "--description", NAME)

    shown = console.run("backup:list", "--long", PYTHONIOENCODING="ascii")
    record = console.run("backup:list", "--long", "-f", "json", PYTHONIOENCODING="latin-1")

    assert (0, "", 0, "") == (shown.returncode, shown.stderr, record.returncode, record.stderr)
    assert "\\u017c" in shown.stdout
    assert [NAME] == [row["Description"] for row in json.loads(record.stdout)]


def test_what_the_encoding_lacks_is_escaped_as_in_json():
    for encoding, errors, printed in [
        ("ascii", "strict", "\\u017c\\u00f3\\ud83d\\ude00"),
        ("latin-1", "strict", "\\u017c\xf3\\ud83d\\ude00"),
        ("ascii", "surrogateescape", "\\u017c\\u00f3\\ud83d\\ude00"),
        ("ascii", "replace", "???"),
        ("utf-8", "strict", "żó😀"),
    ]:
        stream = io.TextIOWrapper(io.BytesIO(), encoding, errors)
        accept_all_characters(stream)

        stream.write("żó😀")
        stream.flush()

        assert printed == stream.buffer.getvalue().decode(encoding)


def test_hosts_are_read_as_utf_8_from_stdin(console):
    done = console.run("fleet:create", "--from", "-", "-f", "json", stdin="name\nżółw\n")

    assert ["żółw"] == [row["Host"] for row in json.loads(done.stdout)]
