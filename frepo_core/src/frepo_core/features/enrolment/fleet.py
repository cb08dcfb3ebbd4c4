"""The command that enrols many hosts."""

import argparse
import fcntl
import os
import stat
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TextIO

from frepo_core.cli.columns import Moment
from frepo_core.cli.commands.auth.token_options import parse_expires
from frepo_core.cli.limit_options import add_expectation, add_numbers, read_change
from frepo_core.cli.tables import ListCommand, Rows, plain
from frepo_core.cli.terminal import GREEN, RED, Word, read_password
from frepo_core.domain.naming import check_token_name
from frepo_core.errors import FieldsError, FrepoError

from .feature import EnrolmentServices
from .fleet_files.hosts_file import NAME, read_hosts
from .fleet_files.secrets_file import CODES, TOKENS, SecretsFile, SecretsTable

if TYPE_CHECKING:
    from frepo_core.services.backups.rows.collection_change import CollectionChange
    from frepo_core.services.composition.container import Services

    from .hosts import Enrolled

PRINT = "-"


class CreateFleet(ListCommand):
    """Make a collection and a token for each host of a CSV file. Safe to run again: what exists does not change.

    The file has a header with the column name, and columns named like the options of this command, with underscores,
    which replace the options for that host. A line that begins with # is a comment. All lines are checked before
    anything is made. A token is shown only in the run that makes it: --tokens adds it to a file, which keeps those of
    earlier runs. With --codes, each host gets a one-time code, with which
    `frepo-client enroll` makes its token.
    """

    long = frozenset({"Collection"})
    examples = (
        "frepo fleet:create --from hosts.csv --expected-every 1d --tokens tokens.csv",
        "frepo fleet:create --from hosts.csv --filename '{name}.tar.zst' --max-backups-count 14 --tokens tokens.csv",
        "frepo fleet:create --from hosts.csv --codes codes.csv",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Define the options: those of collections, without short names, which are those of formats."""
        parser.add_argument("--from", dest="source", required=True, metavar="FILE", help="the CSV file; -: stdin")
        secrets = parser.add_mutually_exclusive_group()
        secrets.add_argument(
            "--tokens",
            metavar="FILE",
            help="add the new tokens to this CSV file, which only its owner can read, instead of printing them",
        )
        secrets.add_argument(
            "--codes",
            metavar="FILE",
            nargs="?",
            const=PRINT,
            help="make one-time codes instead of tokens, valid for 7 days; with FILE, add them to this CSV file",
        )
        parser.add_argument(
            "--filename", default="{name}", help="the file name of versions; {name} is the host; default: {name}"
        )
        parser.add_argument("--description", default="{name}", help="for people; default: {name}")
        add_numbers(parser, short_names="")
        add_expectation(parser)
        parser.add_argument("--strategy", help="the strategy for a full collection")
        parser.add_argument(
            "--strategy-options", metavar="JSON", help="options of the strategy, e.g. '{\"daily\": 14}'"
        )
        parser.add_argument("--password", help="password for new versions; -: read it from stdin")
        parser.add_argument(
            "--token-expires",
            default="never",
            metavar="WHEN",
            help="when the tokens end, e.g. '+1 year'; default: never",
        )

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        """Return a row for each host. An error of one does not stop the others."""
        table = TOKENS if arguments.codes is None else CODES
        path = arguments.tokens if arguments.codes is None else arguments.codes
        path = None if path == PRINT else path
        if path is None:
            _check_output(self.app.stdout, table)
        parse_expires(arguments.token_expires, "--token-expires")
        arguments.password = read_password(arguments.password, self.app.stdin)
        services = self.services()
        hosts = _read_hosts(arguments, services.feature(EnrolmentServices).hosts.check)
        self._is_wrong = False
        with SecretsFile(path, table) if path is not None else nullcontext() as file:
            enrol = self._enrol_with(services, table, arguments.token_expires, file)
            return (*table.columns, "Result"), [enrol(host, change) for host, change in hosts]

    def run(self, arguments: argparse.Namespace) -> int:
        """Return 1 if a host could not be enrolled."""
        status = int(super().run(arguments))
        return status or int(self._is_wrong)

    def _enrol_with(
        self, services: "Services", table: SecretsTable, expires: str, file: SecretsFile | None
    ) -> "Callable[[str, CollectionChange], tuple[Any, ...]]":
        """Return what enrols one host, and returns its row."""
        has_codes = table is CODES
        service = services.feature(EnrolmentServices).hosts
        make = service.invite if has_codes else service.enrol

        def enrol(host: str, change: "CollectionChange") -> tuple[Any, ...]:
            try:
                made = make(host, change, expires=expires)
            except FrepoError as error:
                return host, None, None, None, self._failed(error)
            secret, last = _code_cells(made) if has_codes else _token_cells(made)
            values = host, made.collection.id, secret, last
            if secret and file:
                try:
                    file.add(dict(zip(table.columns, map(plain, values), strict=True)))
                except FieldsError as error:
                    return *values, self._failed(error)
                values = *values[:2], None, last
            return *values, self.word(_result(made), GREEN if secret else "")

        return enrol

    def _failed(self, error: FrepoError) -> Word:
        self._is_wrong = True
        return self.word(f"failed: {_text(error)}", RED)


def _check_output(stdout: TextIO, table: SecretsTable) -> None:
    """Raise `FieldsError` if secrets would be written to a file that the next run of the same line replaces."""
    try:
        descriptor = stdout.fileno()
    except OSError:  # in a test
        return
    is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    if is_file and not fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_APPEND:
        problem = (
            f"give it a FILE, to which lines are added: the output is a file, in which > would replace the "
            f"{table.what} of this run by those of the next, and a {table.what[:-1]} is shown only once"
        )
        raise FieldsError({table.option: [problem]})


def _token_cells(made: "Enrolled") -> tuple[Any, Any]:
    return made.token.id if made.token else None, made.fingerprint


def _code_cells(made: "Enrolled") -> tuple[Any, Any]:
    record = made.code.record if made.code else made.open_code
    return made.code.code if made.code else None, Moment(record.expires_at) if record else None


def _result(made: "Enrolled") -> str:
    secret = "code" if made.code else "token" if made.token else None
    if secret is None:
        return "the code of an earlier run is valid" if made.open_code else "nothing to do"
    return f"collection and {secret} made" if made.is_new else f"{secret} made"


def _read_hosts(
    arguments: argparse.Namespace, check: "Callable[[CollectionChange], None]"
) -> "list[tuple[str, CollectionChange]]":
    """Return the names and values of all hosts. Raises `FieldsError` that names all wrong lines.

    `check` raises `FrepoError` for a collection that cannot be made.
    """
    problems: list[str] = []
    hosts: dict[str, CollectionChange] = {}
    for line, row in read_hosts(arguments.source):
        host = row.pop(NAME, "").strip()
        try:
            if host in hosts:
                raise FieldsError({"name": [f"{host!r} is in the file already"]})
            hosts[_check_name(host)] = _change(host, row, arguments)
            check(hosts[host])
        except FrepoError as error:
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
    own = {name: value.strip() for name, value in row.items() if value.strip()}
    labels = {"label": own.pop("label").split()} if "label" in own else {}
    merged = argparse.Namespace(**(vars(arguments) | own | labels))
    merged.description = merged.description.replace("{name}", host)
    merged.filename = merged.filename.replace("{name}", host)
    return read_change(merged, password=merged.password)


def _text(error: FrepoError) -> str:
    """Return an error in one line."""
    if isinstance(error, FieldsError):
        fields = "; ".join(f"{name}: {', '.join(texts)}" for name, texts in error.fields.items())
        return f"{fields} ({error.explanation})" if error.explanation else fields
    return f"{error.message} ({error.explanation})" if error.explanation else error.message
