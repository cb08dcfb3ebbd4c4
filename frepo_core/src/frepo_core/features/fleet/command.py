"""The command that makes a fleet what a file says."""

import argparse
import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frepo_core.cli.progress import ProgressLine
from frepo_core.cli.tables import ListCommand, Rows
from frepo_core.cli.transfers.secrets_table import SecretsTable
from frepo_core.cli.transfers.streams import STDIO, target
from frepo_core.domain.durations import format_iso_duration
from frepo_core.domain.enrolment import new_code
from frepo_core.domain.identity import new_uuid4
from frepo_core.errors import FieldsError

from ..enrolment.feature import EnrolmentServices
from .feature import FleetServices

if TYPE_CHECKING:
    from .plan import CodeStep, Plan, TokenStep

COLUMNS = ("Kind", "Key", "What", "Before", "After")
FILE_COLUMNS = ("Key", "Name", "Token")
CODE_COLUMNS = ("Key", "Name", "Code")
DRIFT = 2


class Apply(ListCommand):
    """Make collections and tokens what a file says, after a table of what differs. Safe to run again.

    Each thing has a key in the file, which is kept with it. It is deleted only if the file says `state: absent`; but
    the list of who may use a collection is what the file says. What would be refused ends the run before its first
    change. New tokens are written to the file of --secrets, and one-time codes to that of --codes, before they are
    made. With --export, write the file from
    what is there.
    """

    nothing = "Nothing differs."
    examples = (
        "frepo apply --export now.yaml",
        "frepo apply fleet.yaml --dry-run",
        "frepo apply fleet.yaml --secrets secrets.csv --yes",
        "frepo apply fleet.yaml --check",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="the file, in YAML; with --export, -: write to stdout")
        parser.add_argument("--secrets", metavar="SECRETS", help="the CSV file for the secrets of new tokens")
        parser.add_argument("--codes", metavar="CODES", help="the CSV file for new one-time codes, of `enrol: true`")
        parser.add_argument("--yes", action="store_true", help="do not ask after the table")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--dry-run", action="store_true", help="show what differs, change nothing")
        what.add_argument("--check", action="store_true", help="the same, with exit status 2 if something differs")
        what.add_argument("--export", action="store_true", help="write FILE from what is there; it must not exist")

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        """Return a row for each difference."""
        self._plan = self._read_plan(arguments)
        return COLUMNS, [
            (one.kind, one.key, one.what, _cell(one.before), _cell(one.after)) for one in self._plan.differences
        ]

    def run(self, arguments: argparse.Namespace) -> int:
        """Show the table, and do what it says; with --check, return 2 if there is something."""
        if arguments.export:
            self._export(arguments.file)
            return 0
        status = int(super().run(arguments))
        differs = bool(self._plan.differences)
        if arguments.check:
            return DRIFT if differs else status
        if differs and not arguments.dry_run:
            self.require_yes(f"Do these {len(self._plan.differences)} changes?", given=arguments.yes)
            self._execute(self._plan)
            self.tell_people("Done.")
        return status

    def _read_plan(self, arguments: argparse.Namespace) -> "Plan":
        from .fleet_file import read_file

        services = self.services()
        plan = services.feature(FleetServices).planning.plan(read_file(arguments.file, services))
        self._table = self._codes = None
        if arguments.dry_run or arguments.check:
            return plan
        _require(arguments.secrets, "--secrets", "secrets of the new tokens", plan.new_tokens)
        _require(arguments.codes, "--codes", "new one-time codes of", plan.new_codes)
        if arguments.secrets:
            self._table = SecretsTable(arguments.secrets, FILE_COLUMNS)
        if arguments.codes:
            self._codes = SecretsTable(arguments.codes, CODE_COLUMNS, option="--codes")
        return plan

    def _execute(self, plan: "Plan") -> None:
        services, secrets = self.services(), dict[str, str]()
        if self._table is not None:
            ids = {row["Token"]: services.tokens.key(row["Token"]) for row in self._table.rows}
            existing = services.fleet_rotation.existing([key for key in ids.values() if key])
            used = {token for token, key in ids.items() if key in existing}
            secrets |= _choose(self._table, plan.new_tokens, used, new_uuid4)
        if self._codes is not None:
            codes = services.feature(EnrolmentServices).codes
            places = sorted({one for step in plan.new_codes for one in step.collections})
            used = codes.were_made([row["Code"] for row in self._codes.rows], places)
            secrets |= _choose(self._codes, plan.new_codes, used, new_code)
        total, number = len(plan.tokens) + len(plan.collections) + len(plan.codes), 0
        with ProgressLine("apply") as progress:

            def done() -> None:
                nonlocal number
                number += 1
                progress(f"{number} of {total} done")

            services.feature(FleetServices).execution.run(plan, secrets, done=done)

    def _export(self, path: str) -> None:
        import yaml

        from frepo_core.services.access.token_records import admin_token_key

        from .export import export

        services = self.services()
        found = export(services.feature(FleetServices).planning.read(), admin_token_key(services.settings))
        text = yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=120)
        if path == STDIO:
            self.app.stdout.write(text)
            return
        if Path(path).exists():
            raise FieldsError({"FILE": [f"{path!r} exists: name another file"]})
        with target(path, replaces=False, option="FILE") as file:
            file.write(text.encode())


def _require(path: str | None, option: str, what: str, new: "Sequence[CodeStep | TokenStep]") -> None:
    if new and not path:
        names = ", ".join(one.key for one in new[:10])
        raise FieldsError({option: [f"is missing: the file for the {what} {names}"]})


def _choose(
    table: SecretsTable, new: "Sequence[CodeStep | TokenStep]", used: Collection[str], choose: Callable[[], str]
) -> dict[str, str]:
    """Return the secret of each new thing, by its key: that of the file if it was not used, or one that is added."""
    left = {row["Key"]: row[table.secret] for row in table.rows if row[table.secret] not in used}
    fresh = [one for one in new if one.key not in left]
    rows = [{"Key": one.key, "Name": one.wanted.name or one.key, table.secret: choose()} for one in fresh]
    table.write(rows)
    return left | {row["Key"]: row[table.secret] for row in rows}


def _cell(value: Any) -> Any:
    """Return a value for a table: a duration as ISO 8601, options as JSON."""
    from .values import written  # it imports the models

    plain = written(value, format_iso_duration)
    if isinstance(plain, dict):
        return json.dumps(plain)
    return ", ".join(map(str, plain)) if isinstance(plain, Sequence) and not isinstance(plain, str) else plain
