"""Commands that write notes about versions, and release them from quarantine."""

import argparse
from typing import TYPE_CHECKING, get_args

from frepo_core.domain.backups.guards import ReasonName
from frepo_core.errors import FieldsError, FrepoError, NotFoundError

from ...base import check_length
from ...columns import Moment, Words
from ...error_messages import OPTIONS
from ...outcomes import ActionCommand, Outcome

if TYPE_CHECKING:
    from frepo_core.services.backups.versions.version_edits import VersionChange
    from frepo_core.services.base.records import VersionRecord

MAX_NOTE = 1000
_WHICH = "latest, first, good, v<number> or the version's id"
EXAMPLE = "shop.sql v3"


class EditVersion(ActionCommand):
    """A command that edits a version."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument("version", help=_WHICH)

    def find(self, arguments: argparse.Namespace) -> "VersionRecord":
        """Return the version. Raises `FieldsError` or `NotFoundError`."""
        services = self.services()
        return services.versions.find(services.collections.find(arguments.id).id, arguments.version)

    def edit(self, version: "VersionRecord", change: "VersionChange") -> "VersionRecord":
        """Edit the version and return it."""
        return self.services().version_edits.edit(version.collection_id, version.id, change, by=None)


class Release(EditVersion):
    """Release a version: it becomes a normal one, and the strategy may delete others for it.

    From quarantine, from waiting for its verdict, or from a verdict that speaks against it.

    With --all and --reason: all versions that are there for this reason, in every collection or in one. Broken ones
    stay where they are, because two of them can evict all good ones of a small collection; --broken releases them, too.
    """

    examples = (f"frepo backup:release {EXAMPLE}", "frepo backup:release --all --reason kind")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Define the arguments: with --all, no version."""
        parser.add_argument("id", nargs="?", help="the id or the name of the collection; with --all: only this one")
        parser.add_argument("version", nargs="?", help=_WHICH)
        parser.add_argument("--all", action="store_true", help="all versions in quarantine for the --reason")
        parser.add_argument(
            "--broken", action="store_true", help="with --all: also the broken ones, such as after a false alarm"
        )
        parser.add_argument(
            "--reason",
            metavar="REASON",
            help=f"{', '.join(get_args(ReasonName))}, or a reason as `frepo backup:versions` shows it",
        )

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Release the version or all. Raises `FrepoError` if there is nothing to release one from."""
        self._has_failed = False
        if arguments.all:
            return self._release_all(arguments)
        if not arguments.id or not arguments.version or arguments.reason or arguments.broken:
            raise FieldsError({"--all": ["name a collection and a version, or write --all and --reason"]})
        found = self.find(arguments)
        if not found.is_quarantined and found.verdict.is_good:
            raise FrepoError(f"Version v{found.number} of {found.collection_id} is not in quarantine.")
        released, said = self._release(found)
        return outcome_of("Released", released, said)

    def run(self, arguments: argparse.Namespace) -> int:
        """Return 1 if one of several versions was not released."""
        status = int(super().run(arguments))
        return status or int(self._has_failed)

    def _release(self, version: "VersionRecord") -> "tuple[VersionRecord, str]":
        """Release the version. Return it, and what to know about it: what was evicted for it, and what checks found."""
        from frepo_core.services.backups.versions.version_edits import VersionChange

        services, collection = self.services(), version.collection_id
        checks = services.version_checks.outcomes(collection, version.number)
        before = [one.number for one in services.versions.list(collection)]
        released = self.edit(version, VersionChange(releases=True))
        after = {one.number for one in services.versions.list(collection)}
        evicted = ", ".join(f"v{number}" for number in before if number not in after)
        said = f"; evicted for it: {evicted}" if evicted else ""
        against = [check for check in checks if check.outcome in {"broken", "suspicious"}]
        for check in against:
            said += f". The check {check.name} found: {check.message}"
        if against and self._is_newest_good(released):
            said += ". It is the newest good version now"
        return released, said

    def _is_newest_good(self, version: "VersionRecord") -> bool:
        try:
            return self.services().versions.find_selected(version.collection_id, "good").id == version.id
        except NotFoundError:
            return False

    def _release_all(self, arguments: argparse.Namespace) -> Outcome:
        if not arguments.reason or arguments.version:
            raise FieldsError({"--all": ["write --reason, and no version"]})
        services = self.services()
        collection = services.collections.find(arguments.id).id if arguments.id else None
        reason = arguments.reason
        released, kept, lines = [], [], []
        for version in services.version_edits.quarantined(reason, collection):
            name = f"v{version.number} of {version.collection_id}"
            if version.verdict == "broken" and not arguments.broken:
                kept.append(f"{name}: it is broken: {version.verdict_reason}")
                continue
            try:
                said = self._release(version)[1]
                released.append(name)
                lines.append(f"Released version {name}{said}")
            except FrepoError as error:
                kept.append(f"{name}: {error.explain(OPTIONS) or error.message}")
        self._has_failed = bool(kept)
        lines += [f"Not released: {why}" for why in kept]
        text = "\n".join(lines) or f"No version is in quarantine for the reason {reason!r}"
        return Outcome(text=text, records=[{"released": Words(released), "not_released": Words(kept)}])


class Note(EditVersion):
    """Write a note about a version, for people. An empty text removes it."""

    examples = (f"frepo backup:note {EXAMPLE} 'the last one before the move'",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("note", metavar="TEXT", help="the note; it replaces the one before")

    def act(self, arguments: argparse.Namespace) -> Outcome:
        from frepo_core.services.backups.versions.version_edits import VersionChange

        note = check_length("TEXT", arguments.note, MAX_NOTE)
        version = self.edit(self.find(arguments), VersionChange(note=note))
        return outcome_of("Noted at", version)


def outcome_of(verb: str, version: "VersionRecord", said: str = "") -> Outcome:
    """Return what a command did with a version, for people and for programs."""
    record = {
        "collection": version.collection_id,
        "version": f"v{version.number}",
        "id": version.id,
        "pinned": version.pinned,
        "pinned_until": Moment(version.pinned_until),
        "pin_reason": version.pin_reason,
        "quarantined": version.is_quarantined,
        "verdict": version.verdict.value,
        "note": version.note,
    }
    return Outcome(text=f"{verb} version v{version.number} of {version.collection_id}{said}", records=[record])
