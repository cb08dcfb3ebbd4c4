"""Commands that list and delete versions."""

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, get_args

from frepo_core.domain.backups.guards import ReasonName, name_reason
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.error_explanations import explain
from frepo_core.errors import FieldsError

from ...columns import Moment, Size
from ...error_messages import OPTIONS
from ...outcomes import ActionCommand, Outcome
from ...tables import ListCommand, Rows
from ...terminal import YELLOW, Code, Word

if TYPE_CHECKING:
    from frepo_core.services.backups.versions.version_checks import CheckRecord
    from frepo_core.services.base.records import VersionRecord
    from frepo_core.services.composition.container import Services

COLUMNS = (
    "Version",
    "Time",
    "Size",
    "Verdict",
    "Suspicious",
    "Pinned",
    "Pinned until",
    "Pin reason",
    "Locked until",
    "Quarantine",
    "Note",
    "Checks",
    "Message",
    "SHA-256",
    "File",
    "Id",
)
FLEET_COLUMNS = ("Collection", "Name", *COLUMNS)
_BAD = ("broken", "pending", "not checked", "good")


class Versions(ListCommand):
    """List the versions of a collection, newest first: which are good, pinned, quarantined, or failed a check.

    Without the id of a collection, list those of all collections that have problems, or one of the verdicts or reasons.
    """

    long = frozenset(
        {
            "Suspicious",
            "Checks",
            "Pinned until",
            "Pin reason",
            "Locked until",
            "Note",
            "Message",
            "SHA-256",
            "File",
            "Id",
            "Collection",
        }
    )
    examples = (
        "frepo backup:versions shop.sql",
        "frepo backup:versions shop.sql --problems -c Version -c Message",
        "frepo backup:versions --problems",
        "frepo backup:versions --verdict broken --verdict suspicious -c Name -c Version -c Message",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "id", nargs="?", help="the id or the name of the collection; not given: all, with one of these options"
        )
        parser.add_argument("--problems", action="store_true", help="only suspicious, damaged and broken versions")
        parser.add_argument(
            "--verdict",
            metavar="VERDICT",
            action="append",
            default=[],
            choices=[verdict.value for verdict in Verdict],
            help=f"only versions with this verdict: {', '.join(Verdict)}; may be repeated",
        )
        parser.add_argument(
            "--reason",
            metavar="REASON",
            action="append",
            default=[],
            choices=get_args(ReasonName),
            help=f"only versions in quarantine for this reason: {', '.join(get_args(ReasonName))}; may be repeated",
        )

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        services = self.services()
        if arguments.id is None:
            return self._fleet(services, arguments)
        collection = services.collections.find(arguments.id)
        checks = _checks(services, collection.id)
        versions = reversed(services.versions.list(collection.id))
        return COLUMNS, [
            self._row(version, checks[version.number])
            for version in versions
            if (not arguments.problems or _is_bad(version, checks[version.number]))
            and (not arguments.verdict or version.verdict in arguments.verdict)
            and (not arguments.reason or name_reason(version.quarantine_reason) in arguments.reason)
        ]

    def _fleet(self, services: "Services", arguments: argparse.Namespace) -> Rows:
        """Return a row for each version of any collection with one of the verdicts and reasons, or with problems."""
        if not (arguments.verdict or arguments.reason or arguments.problems):
            raise FieldsError({"id": ["write it, or --problems, --verdict or --reason for all collections"]})
        verdicts = [Verdict(one) for one in arguments.verdict]
        rows = []
        for collection, group in groupby(services.versions.search(verdicts, arguments.reason), itemgetter(0)):
            checks = _checks(services, collection.id)
            rows += [
                (collection.id, collection.filename, *self._row(version, checks[version.number]))
                for _, version in group
                if not arguments.problems or _is_bad(version, checks[version.number])
            ]
        return FLEET_COLUMNS, rows

    def _row(self, version: "VersionRecord", checks: "Sequence[CheckRecord]") -> tuple[Any, ...]:
        blob = version.file.blob
        return (
            f"v{version.number}",
            Moment(version.created_at),
            Size(blob.size),
            self.word(version.verdict.value),
            self.alarm(version.is_suspicious, YELLOW),
            version.pinned,
            Moment(version.pinned_until),
            version.pin_reason,
            Moment(version.locked_until),
            Code(
                version.quarantine_reason or "", name_reason(version.quarantine_reason) or "", self.app.stdout, YELLOW
            ),
            version.note,
            self._outcome(checks, is_damaged=blob.is_damaged),
            problems_of(version, checks) if checks else version.verdict_reason or problems_of(version, []),
            blob.digest,
            version.file.stored_name,
            version.id,
        )

    def _outcome(self, checks: "Sequence[CheckRecord]", *, is_damaged: bool) -> Word:
        """Return the worst outcome of the checks; `damaged` if the bytes are wrong."""
        outcomes = [check.outcome for check in checks]
        worst = next((outcome for outcome in _BAD if outcome in outcomes), "")
        return self.word("damaged" if is_damaged else worst)


class DeleteVersion(ActionCommand):
    """Delete a version of a collection. Until `trash.keep` is over, `frepo backup:restore-version` restores it."""

    examples = ("frepo backup:delete-version shop.sql v3 --yes",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument("version", help="latest, first, good, v<number> or the version's id")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Ask, and delete. Raises `FrepoError` if the answer is not yes."""
        services = self.services()
        collection = services.collections.find(arguments.id)
        version = services.versions.find(collection.id, arguments.version)
        shown = f"version v{version.number} ({version.file.stored_name}, of {version.created_at:%Y-%m-%d %H:%M} UTC)"
        self.require_yes(f"Delete {shown} of {collection.id}?", given=arguments.yes)
        services.versions.delete(collection.id, version.id)
        return Outcome(text=f"Deleted {shown}", records=[values_of(version) | {"deleted": True}])


def values_of(version: "VersionRecord") -> dict[str, Any]:
    """Return what commands that change a version say of it to programs."""
    return {
        "collection": version.collection_id,
        "version": f"v{version.number}",
        "id": version.id,
        "file": version.file.stored_name,
        "time": Moment(version.created_at),
    }


def _checks(services: "Services", collection_id: str) -> "Mapping[int, Sequence[CheckRecord]]":
    """Return the results of the checks of a collection's versions by the number of the version."""
    found: dict[int, list[CheckRecord]] = defaultdict(list)
    for check in services.version_checks.outcomes(collection_id):
        found[check.version_number].append(check)
    return found


def _is_bad(version: "VersionRecord", checks: "Sequence[CheckRecord]") -> bool:
    is_broken = any(check.outcome == "broken" for check in checks)
    return version.is_suspicious or version.is_quarantined or version.file.blob.is_damaged or is_broken


def problems_of(version: "VersionRecord", checks: "Sequence[CheckRecord]") -> str:
    """Return what is wrong: with the bytes, why the version is in quarantine, and what the checks found."""
    wrong = ["the bytes are damaged in the storage"] if version.file.blob.is_damaged else []
    said_below = {f"check {check.name}" for check in checks if check.outcome != "good"}
    if version.quarantine_reason and version.quarantine_reason not in said_below:
        wrong.append(explain(version.quarantine_reason, names=OPTIONS) or version.quarantine_reason)
    return "; ".join([*wrong, *(f"{check.name}: {check.message}" for check in checks if check.outcome != "good")])
