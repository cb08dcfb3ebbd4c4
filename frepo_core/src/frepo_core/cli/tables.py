"""Commands that print rows or one record: as a table, or as JSON, YAML, CSV or plain values for programs."""

import argparse
import csv
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from cliff.columns import FormattableColumn
from cliff.formatters.base import SingleFormatter
from cliff.lister import Lister
from cliff.show import ShowOne

from .base import FrepoCommand
from .terminal import Word

Rows = tuple[Sequence[str], Iterable[Sequence[Any]]]
Record = tuple[Sequence[str], Sequence[Any]]
_TEXT_FORMATS = {"csv", "value"}
_TABLE = "table"
# Terminals obey the characters of C0 and C1, except the line end, and those that change the direction of the text.
_CONTROLS = re.compile("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")


class ListCommand(FrepoCommand, Lister):
    """A command whose `take_action` returns names of columns, and rows. In CSV and plain values, null is empty."""

    # What a table without rows says on a terminal.
    nothing = "There is nothing to list."

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Iterable[Sequence[Any]]
    ) -> int:
        """Print the rows."""
        if parsed_args.formatter in _TEXT_FORMATS:
            data = [[plain(cell) for cell in row] for row in data]
        elif parsed_args.formatter == _TABLE:
            data = [[readable(cell) for cell in row] for row in data]
            if not data:  # cliff prints an empty line, which cron would mail
                self.tell_people(self.nothing)
                return 0
        return int(super().produce_output(parsed_args, column_names, data))


class ShowCommand(FrepoCommand, ShowOne):
    """A command whose `take_action` returns the names of fields, and their values."""

    def produce_output(self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Sequence[Any]) -> int:
        """Print the record."""
        if parsed_args.formatter in _TEXT_FORMATS:
            data = [plain(cell) for cell in data]
        elif parsed_args.formatter == _TABLE:
            data = [readable(cell) for cell in data]
        return int(super().produce_output(parsed_args, column_names, data))


class CsvRecord(SingleFormatter):
    """The format `csv` of a single record: a line of names and a line of values. cliff has it for lists only."""

    def add_argument_group(self, parser: argparse.ArgumentParser) -> None:
        """Add no options."""

    def emit_one(
        self, column_names: Sequence[str], data: Sequence[Any], stdout: TextIO, parsed_args: argparse.Namespace
    ) -> None:
        """Write both lines (RFC 4180, with LF as in the lists)."""
        writer = csv.writer(stdout, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(column_names)
        writer.writerow([plain(cell) for cell in data])


def plain(cell: Any) -> Any:
    """Return a cell for a format without null, booleans and lists: null is empty, true is `yes`, items are separated by commas."""
    value = cell.machine_readable() if isinstance(cell, FormattableColumn) else cell
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(str(plain(item)) for item in value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


def readable(cell: Any) -> Any:
    """Return a cell for a table, like `plain`. Control characters are escaped: clients write notes, and terminals obey."""
    if cell is None:
        return ""
    if isinstance(cell, Word):  # one of our own words, with its colour
        return cell
    text = cell.human_readable() if isinstance(cell, FormattableColumn) else cell
    if isinstance(text, bool):
        return "yes" if text else "no"
    if isinstance(text, list | tuple):
        return ", ".join(str(readable(item)) for item in text)
    return _CONTROLS.sub(_escape, text.replace("\r\n", "\n")) if isinstance(text, str) else text


def _escape(match: re.Match[str]) -> str:
    return repr(match[0])[1:-1]
