"""Replacing the tokens of a whole fleet by one command, which is safe to run again after an interruption."""

import argparse
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from frepo_core.domain.durations import parse_any_duration
from frepo_core.domain.identity import new_uuid4
from frepo_core.errors import FieldsError, FrepoError

from ...columns import Moment, Words
from ...progress import ProgressLine
from ...tables import ListCommand, Rows
from ...terminal import GREEN, RED
from ...transfers.secrets_table import SecretsTable

if TYPE_CHECKING:
    from frepo_core.services.access.rotation.fleet_rotation import Candidate

COLUMNS = ("Name", "Collections", "Replaces", "Ends at", "Fingerprint", "Result")
FILE_COLUMNS = ("Name", "Collections", "Replaces", "Token")


def parse_overlap(text: str) -> timedelta:
    """Return how long a replaced token stays valid. Raises `FieldsError`."""
    try:
        return parse_any_duration(text)
    except ValueError as error:
        raise FieldsError({"--overlap": [str(error)]}) from None


class RotateTokens(ListCommand):
    """Replace all tokens of collections whose names match: what `auth:rotate --all` does."""

    nothing = "No valid token is on the list of a collection whose name matches."

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        """Return a row for each token. An error of one does not stop the others."""
        overlap = parse_overlap(arguments.overlap)
        if not arguments.collection:
            raise FieldsError({"--collection": ["is missing: a pattern of names, such as 'db*'; '*' means all"]})
        if not arguments.secrets and not arguments.dry_run:
            raise FieldsError({"--secrets": ["is missing: the file for the new tokens, which are shown nowhere else"]})
        rotation = self.services().fleet_rotation
        table = SecretsTable(arguments.secrets, FILE_COLUMNS) if arguments.secrets else None
        pending, made = self._split(table)
        found = rotation.find(arguments.collection)
        plan = [(one, pending.get(one.fingerprint) or new_uuid4()) for one in found if one.key not in made]
        done = [_row(one, self.word("done by an earlier run")) for one in found if one.key in made]
        if arguments.dry_run:
            return COLUMNS, [*done, *(_row(one, self.word("would be replaced")) for one, _ in plan)]
        if table is not None:
            fresh = [(one, token) for one, token in plan if one.fingerprint not in pending]
            table.write(_line(one, token) for one, token in fresh)
        return COLUMNS, [*done, *self._rotate(plan, overlap)]

    def run(self, arguments: argparse.Namespace) -> int:
        """Return 1 if a token could not be replaced."""
        self._is_wrong = False
        status = int(super().run(arguments))
        return status or int(self._is_wrong)

    def _split(self, table: SecretsTable | None) -> tuple[dict[str, str], set[str | None]]:
        """Return what an interrupted run has left to do, by the fingerprints of old tokens; and the keys of new ones.

        A token whose secret is in the file is not replaced again: another rotation gets another file.
        """
        tokens = self.services().tokens
        rows = table.rows if table else []
        keys = {row["Token"]: tokens.key(row["Token"]) for row in rows}
        exist = self.services().fleet_rotation.existing([key for key in keys.values() if key])
        pending = {row["Replaces"]: row["Token"] for row in rows if keys[row["Token"]] not in exist}
        return pending, set(exist)

    def _rotate(self, plan: "list[tuple[Candidate, str]]", overlap: timedelta) -> list[tuple[Any, ...]]:
        rotation, rows = self.services().fleet_rotation, []
        with ProgressLine("tokens") as progress:
            for number, (one, token) in enumerate(plan, start=1):
                try:
                    done = rotation.rotate(one, token, overlap)
                except FrepoError as error:
                    self._is_wrong = True
                    rows.append(_row(one, self.word(f"failed: {error.explanation or error.message}", RED)))
                else:
                    result = self.word("replaced", GREEN)
                    rows.append(_row(one, result, ends_at=done.ends_at, fingerprint=done.new.fingerprint))
                progress(f"{number} of {len(plan)} replaced")
        return rows


def _row(one: "Candidate", result: Any, *, ends_at: Any = None, fingerprint: str = "") -> tuple[Any, ...]:
    return (one.name, Words(one.collections), one.fingerprint, Moment(ends_at), fingerprint, result)


def _line(one: "Candidate", token: str) -> dict[str, str]:
    names = " ".join(one.collections)
    return {"Name": one.name, "Collections": names, "Replaces": one.fingerprint, "Token": token}
