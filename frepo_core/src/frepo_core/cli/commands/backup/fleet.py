"""The command that enrols many hosts."""

import argparse
import csv
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frepo_core.domain.naming import check_token_name
from frepo_core.errors import FieldsError, FrepoError

from ...base import check_length
from ...limit_options import add_expectation, add_numbers, read_guards, read_labels, read_limits
from ...tables import ListCommand, Rows
from ...terminal import GREEN, RED
from ...transfers.streams import STDIO
from .create_collection import check_filename, read_options

if TYPE_CHECKING:
    from frepo_core.services.collections.access import Enrolled
    from frepo_core.services.collections.collection_change import CollectionChange
    from frepo_core.services.container import Services

COLUMNS = ("Host", "Collection", "Token", "Fingerprint", "Result")
MAX_HOSTS = 10_000
# The options that a column of the file can replace, by the name of the column.
OPTIONS = (
    *("filename", "description", "max_backups_count", "max_one_version_size", "max_collection_size", "min_retention"),
    *("min_version_size", "max_shrink_percent", "on_suspicious", "strategy", "expected_every", "grace", "label"),
)


class CreateFleet(ListCommand):
    """Make a collection and a token for each host of a CSV file. Safe to run again: what exists does not change.

    The file has a header with the column name, and columns named like the options of this command, with underscores,
    which replace the options for that host. All lines are checked before anything is made.
    """

    examples = (
        "frepo fleet:create --from hosts.csv --filename '{name}.tar.zst' --max-backups-count 14",
        "frepo fleet:create --from hosts.csv --expected-every 1d -f csv > tokens.csv",
    )

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the options: those of collections, without short names, which are those of formats."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--from", dest="source", required=True, metavar="FILE", help="the CSV file; -: stdin")
        parser.add_argument(
            "--filename", default="{name}", help="the file name of versions; {name} is the host; default: {name}"
        )
        parser.add_argument("--description", default="{name}", help="for people; default: {name}")
        add_numbers(parser, has_short_names=False)
        add_expectation(parser)
        parser.add_argument("--strategy", help="the strategy for a full collection")
        parser.add_argument("--strategy-options", metavar="JSON", help="options of the strategy")
        parser.add_argument(
            "--token-expires",
            default="never",
            metavar="WHEN",
            help="when the tokens end, e.g. '+1 year'; default: never",
        )
        return parser

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        """Return a row for each host. An error of one does not stop the others."""
        hosts = _read_hosts(arguments)
        services = self.services()
        self._is_wrong = False
        return COLUMNS, [self._enrol(services, host, change, arguments) for host, change in hosts]

    def run(self, arguments: argparse.Namespace) -> int:
        """Return 1 if a host could not be enrolled."""
        status = int(super().run(arguments))
        return status or int(self._is_wrong)

    def _enrol(
        self, services: "Services", host: str, change: "CollectionChange", arguments: argparse.Namespace
    ) -> tuple[Any, ...]:
        try:
            made = services.enrolments.enrol_host(host, change, expires=arguments.token_expires)
        except FrepoError as error:
            self._is_wrong = True
            return host, None, None, None, self.word(f"failed: {_text(error)}", RED)
        token = made.token.id if made.token else None
        return host, made.collection.id, token, made.fingerprint, self.word(_result(made), GREEN if token else "")


def _result(made: "Enrolled") -> str:
    if made.is_new:
        return "collection and token made"
    return "token made" if made.token else "nothing to do"


def _read_hosts(arguments: argparse.Namespace) -> "list[tuple[str, CollectionChange]]":
    """Return the names and values of all hosts. Raises `FieldsError` that names all wrong lines."""
    problems: list[str] = []
    hosts: dict[str, CollectionChange] = {}
    for line, row in _rows(arguments.source):
        host = (row.pop("name") or "").strip()
        try:
            if host in hosts:
                raise FieldsError({"name": [f"{host!r} is in the file already"]})
            hosts[_check_name(host)] = _change(host, row, arguments)
        except FieldsError as error:
            problems.append(f"line {line}: {_text(error)}")
    if problems:
        raise FieldsError({"--from": problems})
    return list(hosts.items())


def _rows(source: str) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Yield the number of each line of the file, and its values by column. Raises `FieldsError`."""
    try:
        text = sys.stdin.read() if source == STDIO else Path(source).read_text("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text), strict=True)
        names = [name.strip() for name in reader.fieldnames or ()]
        reader.fieldnames = names
        _check_columns(names)
        for row in reader:
            if None in row or len(row) != len(names) or reader.line_num > MAX_HOSTS:
                problem = (
                    f"line {reader.line_num} has more values than columns" if None in row else "has too many lines"
                )
                raise FieldsError({"--from": [problem]})
            yield reader.line_num, dict(row)
    except OSError as error:
        raise FieldsError({"--from": [f"{source!r} cannot be read: {error.strerror}"]}) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise FieldsError({"--from": [f"{source!r} is not a CSV file in UTF-8: {error}"]}) from error


def _check_columns(names: Sequence[str]) -> None:
    if "name" not in names:
        raise FieldsError({"--from": ["the first line must name the columns, and one of them must be: name"]})
    if unknown := [name for name in names if name not in {"name", *OPTIONS}]:
        raise FieldsError({"--from": [f"unknown columns: {', '.join(unknown)}. Known: name, {', '.join(OPTIONS)}"]})


def _check_name(host: str) -> str:
    try:
        return check_token_name(host)
    except ValueError as error:
        raise FieldsError({"name": [str(error)]}) from None


def _change(host: str, row: dict[str, str | None], arguments: argparse.Namespace) -> "CollectionChange":
    """Return the values of a host's collection. Raises `FieldsError`."""
    from frepo_core.services.collections.collection_change import CollectionChange

    own = {name: value.strip() for name, value in row.items() if value and value.strip()}
    labels = {"label": own.pop("label").split()} if "label" in own else {}
    merged = argparse.Namespace(**(vars(arguments) | own | labels))
    return CollectionChange(
        limits=read_limits(merged),
        guards=read_guards(merged),
        strategy=merged.strategy,
        strategy_options=read_options(merged.strategy_options),
        description=check_length("--description", merged.description.replace("{name}", host), 1024),
        filename=check_filename(merged.filename.replace("{name}", host)),
        expected_every=merged.expected_every,
        grace=merged.grace,
        labels=read_labels(merged),
    )


def _text(error: FrepoError) -> str:
    """Return an error in one line."""
    if isinstance(error, FieldsError):
        fields = "; ".join(f"{name.removeprefix('form.')}: {', '.join(texts)}" for name, texts in error.fields.items())
        return f"{fields} ({error.explanation})" if error.explanation else fields
    return f"{error.message} ({error.explanation})" if error.explanation else error.message
