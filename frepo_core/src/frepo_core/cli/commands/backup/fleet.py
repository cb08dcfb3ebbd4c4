"""The command that enrols many hosts."""

import argparse
import fcntl
import os
import stat
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TextIO

from frepo_core.domain.naming import check_token_name
from frepo_core.errors import FieldsError, FrepoError

from ...base import check_length
from ...limit_options import add_expectation, add_numbers, read_guards, read_labels, read_limits
from ...tables import ListCommand, Rows
from ...terminal import GREEN, RED, Word
from ..auth.token_options import parse_expires
from .create_collection import check_filename, read_options
from .fleet_files.hosts_file import NAME, read_hosts
from .fleet_files.token_file import COLUMNS as TOKEN_COLUMNS
from .fleet_files.token_file import TokenFile

if TYPE_CHECKING:
    from frepo_core.services.backups.collections.collection_change import CollectionChange
    from frepo_core.services.backups.collections.enrolment import Enrolled
    from frepo_core.services.composition.container import Services

COLUMNS = (*TOKEN_COLUMNS, "Result")


class CreateFleet(ListCommand):
    """Make a collection and a token for each host of a CSV file. Safe to run again: what exists does not change.

    The file has a header with the column name, and columns named like the options of this command, with underscores,
    which replace the options for that host. A line that begins with # is a comment. All lines are checked before
    anything is made. A token is shown only in the run that makes it: --tokens adds it to a file, which keeps those of
    earlier runs.
    """

    long = frozenset({"Collection"})
    examples = (
        "frepo fleet:create --from hosts.csv --expected-every 1d --tokens tokens.csv",
        "frepo fleet:create --from hosts.csv --filename '{name}.tar.zst' --max-backups-count 14 --tokens tokens.csv",
    )

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the options: those of collections, without short names, which are those of formats."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--from", dest="source", required=True, metavar="FILE", help="the CSV file; -: stdin")
        parser.add_argument(
            "--tokens",
            metavar="FILE",
            help="add the new tokens to this CSV file, which only its owner can read, instead of printing them",
        )
        parser.add_argument(
            "--filename", default="{name}", help="the file name of versions; {name} is the host; default: {name}"
        )
        parser.add_argument("--description", default="{name}", help="for people; default: {name}")
        add_numbers(parser, short_names="")
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
        if arguments.tokens is None:
            _check_output(self.app.stdout)
        parse_expires(arguments.token_expires, "--token-expires")
        hosts = _read_hosts(arguments)
        self._is_wrong = False
        with TokenFile(arguments.tokens) if arguments.tokens is not None else nullcontext() as file:
            services = self.services()
            return COLUMNS, [
                self._enrol(services, host, change, arguments.token_expires, file) for host, change in hosts
            ]

    def run(self, arguments: argparse.Namespace) -> int:
        """Return 1 if a host could not be enrolled."""
        status = int(super().run(arguments))
        return status or int(self._is_wrong)

    def _enrol(
        self, services: "Services", host: str, change: "CollectionChange", expires: str, file: TokenFile | None
    ) -> tuple[Any, ...]:
        try:
            made = services.enrolments.enrol_host(host, change, expires=expires)
        except FrepoError as error:
            return host, None, None, None, self._failed(error)
        token = made.token.id if made.token else None
        values = host, made.collection.id, token, made.fingerprint
        if token and file:
            try:
                file.add(dict(zip(TOKEN_COLUMNS, values, strict=True)))
            except FieldsError as error:
                return *values, self._failed(error)
            values = *values[:2], None, made.fingerprint
        return *values, self.word(_result(made), GREEN if token else "")

    def _failed(self, error: FrepoError) -> Word:
        self._is_wrong = True
        return self.word(f"failed: {_text(error)}", RED)


def _check_output(stdout: TextIO) -> None:
    """Raise `FieldsError` if tokens would be written to a file that the next run of the same line replaces."""
    try:
        descriptor = stdout.fileno()
    except OSError:  # in a test
        return
    is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    if is_file and not fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_APPEND:
        problem = (
            "is required if the output is a file: with > alone, the next run would replace the tokens of this one, and "
            "a token is shown only once. --tokens FILE adds lines to a file"
        )
        raise FieldsError({"--tokens": [problem]})


def _result(made: "Enrolled") -> str:
    if made.is_new:
        return "collection and token made"
    return "token made" if made.token else "nothing to do"


def _read_hosts(arguments: argparse.Namespace) -> "list[tuple[str, CollectionChange]]":
    """Return the names and values of all hosts. Raises `FieldsError` that names all wrong lines."""
    problems: list[str] = []
    hosts: dict[str, CollectionChange] = {}
    for line, row in read_hosts(arguments.source):
        host = row.pop(NAME, "").strip()
        try:
            if host in hosts:
                raise FieldsError({"name": [f"{host!r} is in the file already"]})
            hosts[_check_name(host)] = _change(host, row, arguments)
        except FieldsError as error:
            problems.append(f"line {line}: {_text(error)}")
    if problems:
        raise FieldsError({"--from": problems})
    return list(hosts.items())


def _check_name(host: str) -> str:
    try:
        return check_token_name(host)
    except ValueError as error:
        raise FieldsError({"name": [str(error)]}) from None


def _change(host: str, row: dict[str, str], arguments: argparse.Namespace) -> "CollectionChange":
    """Return the values of a host's collection. Raises `FieldsError`."""
    from frepo_core.services.backups.collections.collection_change import CollectionChange

    own = {name: value.strip() for name, value in row.items() if value.strip()}
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
        fields = "; ".join(f"{name}: {', '.join(texts)}" for name, texts in error.fields.items())
        return f"{fields} ({error.explanation})" if error.explanation else fields
    return f"{error.message} ({error.explanation})" if error.explanation else error.message
