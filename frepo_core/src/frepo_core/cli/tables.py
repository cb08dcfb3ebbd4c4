"""Commands that print rows or one record: as a table, or as JSON, YAML, CSV or plain values for programs."""

import argparse
import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, TextIO

from cliff.columns import FormattableColumn
from cliff.formatters.base import SingleFormatter
from cliff.formatters.table import TableFormatter
from cliff.lister import Lister
from cliff.show import ShowOne
from cliff.utils import terminal_width
from prettytable import PrettyTable

from frepo_core.domain.texts.foreign_text import escape_controls, spreadsheet_cell

from .base import FrepoCommand
from .terminal import Word

Rows = tuple[Sequence[str], Iterable[Sequence[Any]]]
Record = tuple[Sequence[str], Sequence[Any]]
_TEXT_FORMATS = {"csv", "value"}
_TABLE = "table"
# A column that is not wider, such as of times and fingerprints, stays whole in a table that is narrowed.
_WHOLE = 20
_NARROWEST = 8
# What an empty cell says on a terminal.
NONE = "none"
# How many columns a table has without --long.
MOST_COLUMNS = 6


class TableCommand(FrepoCommand):
    """A command that prints a table to people."""

    def shown(self, cell: Any) -> Any:
        """Return a cell for a table. An empty one is `none` on a terminal."""
        text = readable(cell)
        return NONE if text == "" and self.app.stdout.isatty() else text


class ListCommand(TableCommand, Lister):
    """A command whose `take_action` returns names of columns, and rows. In CSV and plain values, null is empty."""

    # What a table without rows says on a terminal.
    nothing = "There is nothing to list."
    # The columns that a table has only with --long or -c, so that it fits on a terminal. Programs get all. Of the
    # others, it shows the first six.
    long: ClassVar[frozenset[str]] = frozenset()

    def _add_common_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add --long."""
        super()._add_common_arguments(parser)
        parser.add_argument("--long", action="store_true", help="show all columns in the table")

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Iterable[Sequence[Any]]
    ) -> int:
        """Print the rows."""
        if parsed_args.formatter in _TEXT_FORMATS:
            data = [[_safe(plain(cell), parsed_args.formatter) for cell in row] for row in data]
        elif parsed_args.formatter == _TABLE:
            self.formatter = _FittingTable()
            data = [[self.shown(cell) for cell in row] for row in data]
            if not data:  # cliff prints an empty line, which cron would mail
                self.tell_people(self.nothing)
                return 0
            shown = [name for name in column_names if name not in self.long][:MOST_COLUMNS]
            if len(shown) < len(column_names) and not (parsed_args.long or parsed_args.columns):
                parsed_args.columns = shown
                hidden = ", ".join(name for name in column_names if name not in shown)
                status = int(super().produce_output(parsed_args, column_names, data))
                self.tell_people(f"--long also shows: {hidden}")
                return status
        return int(super().produce_output(parsed_args, column_names, data))


class ShowCommand(TableCommand, ShowOne):
    """A command whose `take_action` returns the names of fields, and their values."""

    def produce_output(self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Sequence[Any]) -> int:
        """Print the record."""
        if parsed_args.formatter in _TEXT_FORMATS:
            data = [_safe(plain(cell), parsed_args.formatter) for cell in data]
        elif parsed_args.formatter == _TABLE:
            data = [self.shown(cell) for cell in data]
        return int(super().produce_output(parsed_args, column_names, data))


class StorageCommand(ShowCommand):
    """A command that processes many blobs, shows progress and prints a report. Exit status 1 reports a problem."""

    def take_action(self, arguments: argparse.Namespace) -> Record:
        """Run the work and return its report."""
        rows, self._is_wrong = self.work(arguments)
        return tuple(rows), tuple(rows.values())

    def run(self, arguments: argparse.Namespace) -> int:
        """Return 1 if the report has a problem, so that cron sends it by mail."""
        status = int(super().run(arguments))
        return status or int(self._is_wrong)

    def work(self, arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
        """Return the rows of the report, and whether there is a problem."""
        raise AssertionError("a command overrides this")


class _FittingTable(TableFormatter):
    """A table of rows that is narrowed where its texts can be broken: times, fingerprints and words stay whole."""

    @staticmethod
    def _assign_max_widths(table: PrettyTable, max_width: int, min_width: int = 0, fit_width: bool = False) -> None:
        full = TableFormatter._field_widths(table.field_names, table.get_string().partition("\n")[0])
        TableFormatter._assign_max_widths(table, max_width, min_width, fit_width)
        if table.max_width:  # it was too wide
            room = (max_width or terminal_width() or 0) - 1 - 3 * len(full)
            least = {name: _least(name, width, table) for name, width in full.items()}
            table.max_width = _fit(full, least, room)


def _least(name: str, width: int, table: PrettyTable) -> int:
    """Return the width that a column needs so that no word of it is broken; lines end after blanks and hyphens."""
    if width <= _WHOLE:
        return width
    cells = (str(row[table.field_names.index(name)]) for row in table.rows)
    return min(width, max(len(piece) for cell in (name, *cells) for piece in cell.replace("-", "- ").split(" ")))


def _fit(full: Mapping[str, int], least: Mapping[str, int], room: int) -> dict[str, int]:
    """Return widths between the least and the full ones. If there is too little room, shorten the widest texts."""
    widths = dict(least)
    texts = [name for name in full if full[name] > _WHOLE]
    while sum(widths.values()) > room:
        names = [name for name in texts if widths[name] > _NARROWEST] or list(full)
        widest = max(names, key=widths.__getitem__)
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
    spare = max(0, room - sum(widths.values()))
    wrapped = sorted((name for name in full if full[name] > widths[name]), key=lambda name: full[name] - widths[name])
    for position, name in enumerate(wrapped):
        more = min(full[name] - widths[name], spare // (len(wrapped) - position))
        widths[name] += more
        spare -= more
    return widths


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
        writer.writerow([_safe(plain(cell), "csv") for cell in data])


def plain(cell: Any) -> Any:
    """Return a cell for a format without null, booleans and lists: empty, `yes` or `no`, items separated by commas."""
    value = cell.machine_readable() if isinstance(cell, FormattableColumn) else cell
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(str(plain(item)) for item in value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


def readable(cell: Any) -> Any:
    """Return a cell for a table, like `plain`. Control characters are escaped, since terminals obey them."""
    if cell is None:
        return ""
    if isinstance(cell, Word):  # one of our own words, with its colour
        return cell
    text = cell.human_readable() if isinstance(cell, FormattableColumn) else cell
    if isinstance(text, bool):
        return "yes" if text else "no"
    if isinstance(text, list | tuple):
        return ", ".join(str(readable(item)) for item in text)
    return escape_controls(text) if isinstance(text, str) else text


def _safe(cell: Any, formatter: str) -> Any:
    """Return a cell for CSV or plain values without control characters, and for CSV without formulas.

    Both are read by people, too: JSON has each text as it is.
    """
    shown = escape_controls(cell) if isinstance(cell, str) else cell
    return spreadsheet_cell(shown) if formatter == "csv" else shown
