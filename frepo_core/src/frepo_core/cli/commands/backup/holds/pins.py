"""Commands that pin versions, unpin them, and list the pinned ones of all collections."""

import argparse
import contextlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from frepo_core.domain.durations import parse_any_duration
from frepo_core.errors import FieldsError

from ....base import check_length
from ....columns import Moment, Size
from ....outcomes import Outcome
from ....tables import ListCommand, Rows
from ..version_edits import EXAMPLE, MAX_NOTE, EditVersion, outcome_of

if TYPE_CHECKING:
    from frepo_core.services.backups.holds.pins import PinnedVersion

COLUMNS = ("Collection", "Name", "Version", "Time", "Size", "Until", "Reason", "Note")


class Pin(EditVersion):
    """Pin a version: it is not deleted until it is unpinned, neither by the strategy nor on request.

    With --until, the pin ends by itself at that time. For a pinned version, change the end and the reason of its pin.
    """

    examples = (
        f"frepo backup:pin {EXAMPLE} --reason 'before the move to PostgreSQL 18'",
        f"frepo backup:pin {EXAMPLE} --until 2036-12-31 --reason 'accounts of 2026, kept for ten years'",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--until", metavar="WHEN", help="2036-12-31, 2030-01-31T12:00 (UTC), a length of time such as 90d, or never"
        )
        parser.add_argument("--reason", metavar="TEXT", help="why the version is pinned")
        parser.add_argument("--note", metavar="TEXT", help="replaces the note of the version")

    def act(self, arguments: argparse.Namespace) -> Outcome:
        from frepo_core.services.backups.versions.version_edits import VersionChange

        reason = check_length("--reason", arguments.reason, MAX_NOTE)
        wanted: dict[str, Any] = {} if reason is None else {"reason": reason}
        if arguments.until is not None:
            wanted["until"] = parse_until(arguments.until)
        note = check_length("--note", arguments.note, MAX_NOTE)
        version = self.edit(self.find(arguments), VersionChange(pinned=True, pin=wanted, note=note))
        until = version.pinned_until
        return outcome_of("Pinned", version, f" until {until:%Y-%m-%d %H:%M:%S} UTC" if until else "")


class Unpin(EditVersion):
    """Unpin a version: the strategy of its collection may delete it again."""

    examples = (f"frepo backup:unpin {EXAMPLE}",)

    def act(self, arguments: argparse.Namespace) -> Outcome:
        from frepo_core.services.backups.versions.version_edits import VersionChange

        version = self.edit(self.find(arguments), VersionChange(pinned=False))
        return outcome_of("Unpinned", version)


class Pins(ListCommand):
    """List the pinned versions of all collections: what has to be kept, until when, and why."""

    long = frozenset({"Collection", "Size", "Note"})
    nothing = "No version is pinned."
    examples = ("frepo backup:pins", "frepo backup:pins -f json")

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        """Return a row for each pinned version, by the name of its collection and by number."""
        found = self.services().pins.list()
        ordered = sorted(found, key=lambda one: (one.collection.filename, one.collection.id, one.version.number))
        return COLUMNS, [_row(one) for one in ordered]


def parse_until(text: str) -> datetime | None:
    """Return the time (UTC) that a text names: a time, a day, or a length of time from now; None for `never`.

    Raises `FieldsError`.
    """
    if text == "never":
        return None
    with contextlib.suppress(ValueError, OverflowError):
        return datetime.now(UTC) + parse_any_duration(text)
    with contextlib.suppress(ValueError, OverflowError):
        given = datetime.fromisoformat(text)
        return given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)
    raise FieldsError({"--until": [f"{text!r} is no time: write e.g. 2036-12-31, 2030-01-31T12:00, 90d or never"]})


def _row(one: "PinnedVersion") -> tuple[Any, ...]:
    version = one.version
    return (
        one.collection.id,
        one.collection.filename,
        f"v{version.number}",
        Moment(version.created_at),
        Size(version.file.blob.size),
        Moment(version.pinned_until),
        version.pin_reason,
        version.note,
    )
