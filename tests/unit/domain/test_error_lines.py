"""The reason in the output of a program: the first line with an error, otherwise the last one."""

import pytest

from frepo_core.domain.error_lines import FirstError, find_reason

OUTPUTS = {
    "psql:-:3: ERROR:  relation a is missing": [
        "psql:-:3: ERROR:  relation a is missing",
        "LINE 1: a",
        "COPY a, line 1",
    ],
    "pg_restore: error: could not execute query": [
        "notice",
        "pg_restore: error: could not execute query",
        "Command was",
    ],
    "FATAL:  the database system is starting up": ["FATAL:  the database system is starting up", "bye"],
    "ERROR 1064 (42000) at line 3: You have": ["mysql: a warning", "ERROR 1064 (42000) at line 3: You have", "more"],
    "mysqldump: Got error: 1045: Access": ["mysqldump: Got error: 1045: Access", "mysqldump: bye"],
    "ValueError: no table": ["Traceback (most recent call last):", "  in main", "ValueError: no table"],
    "fatal: not a bundle": ["fatal: not a bundle", "and more"],
    "gzip: stdin: unexpected end of file": ["", "gzip: stdin: unexpected end of file", "\tIs it one?", ""],
    "0 errors, terror, an error": ["0 errors", "0 errors, terror, an error"],
    "": [],
}


@pytest.mark.parametrize("reason", OUTPUTS)
def test_the_reason(reason):
    assert reason == find_reason("\n".join(OUTPUTS[reason]))


def test_the_first_error_of_an_output_in_pieces():
    for reason, lines in OUTPUTS.items():
        for size in (1, 7, 1000):
            output, first = "\n".join(lines).encode(), FirstError()
            for start in range(0, len(output), size):
                first.feed(output[start : start + size])

            assert first.end() in {reason, ""}, (reason, size)
            assert bool(first.line) == any(word in reason for word in ("rror:", "ERROR", "FATAL", "fatal")), reason


def test_a_line_without_an_end_takes_no_memory():
    first = FirstError()
    for _ in range(1000):
        first.feed(b"x" * 10_000)

    assert ("", True) == (first.end(), len(first._begun) <= 1000)
