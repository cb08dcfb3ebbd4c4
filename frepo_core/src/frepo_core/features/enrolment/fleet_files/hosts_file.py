"""Reads the CSV file that names the hosts: a header, a line for each host, and comments."""

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from frepo_core.cli.limit_options import GUARDS
from frepo_core.cli.transfers.streams import STDIO
from frepo_core.errors import FieldsError

NAME = "name"
COMMENT = "#"
MAX_HOSTS = 10_000
# The options that a column of the file can replace, by the name of the column.
OPTIONS = (
    *("filename", "description", "max_backups_count", "max_one_version_size", "max_collection_size"),
    *GUARDS,
    *(
        "on_suspicious",
        "strategy",
        "strategy_options",
        "expected_every",
        "grace",
        "label",
        "storage",
        "mirror",
        "compact_group",
        "trash_keep",
        "password",
    ),
)


def read_hosts(source: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number of each line that names a host, and its values by column; `-` is stdin. Raises `FieldsError`.

    Empty lines, and lines that begin with `#`, are left out.
    """
    try:
        text = (sys.stdin.buffer.read() if source == STDIO else Path(source).read_bytes()).decode("utf-8-sig")
        reader = csv.reader(_without_comments(text), strict=True)
        names = [name.strip() for name in next(filter(None, reader), ())]
        _check_columns(names)
        for number, row in enumerate(filter(None, reader), start=1):
            if number > MAX_HOSTS:
                raise _refused(f"has more than {MAX_HOSTS} hosts")
            if len(row) > len(names):
                raise _refused(f"line {reader.line_num} has more values than columns")
            yield reader.line_num, dict(zip(names, row, strict=False))
    except OSError as error:
        raise _refused(f"{source!r} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise _refused(f"{source!r} is not a CSV file in UTF-8: {error}") from error


def _without_comments(text: str) -> Iterator[str]:
    """Yield the lines. A comment becomes an empty line, so that the numbers of the others stay."""
    for line in text.splitlines(keepends=True):
        yield "\n" if line.lstrip().startswith(COMMENT) else line


def _check_columns(names: Sequence[str]) -> None:
    if NAME not in names:
        raise _refused("the first line must name the columns, and one of them must be: name")
    if unknown := [name for name in names if name not in {NAME, *OPTIONS}]:
        raise _refused(f"unknown columns: {', '.join(unknown)}. Known: name, {', '.join(OPTIONS)}")
    if repeated := [name for name in names if names.count(name) > 1]:
        raise _refused(f"two columns have the name {repeated[0]!r}")


def _refused(problem: str) -> FieldsError:
    return FieldsError({"--from": [problem]})
