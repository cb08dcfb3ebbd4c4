"""Commands that list, restore and end what is in the trash of a collection."""

import argparse

from frepo_core.domain.naming import parse_version_number
from frepo_core.errors import FieldsError

from ...columns import Moment, Size
from ...outcomes import ActionCommand, Outcome
from ...tables import ListCommand, Rows
from .versions import values_of

COLUMNS = ("Version", "Time", "Size", "Removed", "Reason", "By", "Ends", "Damaged", "SHA-256", "Name")
PAGE = 500


class ShowTrash(ListCommand):
    """List the versions in the trash of a collection, newest first, and until when each can be restored."""

    long = frozenset({"Removed", "By", "SHA-256", "Name"})
    nothing = "The trash of this collection is empty."
    examples = ("frepo backup:trash shop.sql",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        services = self.services()
        collection = services.collections.find(arguments.id)
        return COLUMNS, [
            (
                f"v{each.number}",
                Moment(each.created_at),
                Size(each.size),
                Moment(each.evicted_at),
                each.reason,
                each.evicted_by,
                Moment(each.ends_at),
                each.is_damaged,
                each.digest,
                each.name,
            )
            for each in services.trash.list(collection.id)
        ]


class RestoreVersion(ActionCommand):
    """Restore a version from the trash under its number. It is not evicted again before `trash.keep` is over."""

    examples = ("frepo backup:restore-version shop.sql v3",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument("version", help="v<number>, as `frepo backup:trash` lists it")

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Restore, and say where the version is."""
        services = self.services()
        collection = services.collections.find(arguments.id)
        version = services.trash.restore(collection.id, _number(arguments.version), by=None)
        record = values_of(version)
        text = f"Restored version v{version.number} ({version.file.stored_name}) of {collection.id}"
        return Outcome(text=text, records=[record])


class EmptyTrash(ActionCommand):
    """Delete a version in the trash of a collection for good, or all of them. Without --yes it asks."""

    examples = (
        "frepo backup:empty-trash shop.sql --yes",
        "frepo backup:empty-trash shop.sql v3 --yes",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument("version", nargs="?", help="v<number>; default: all that is in the trash")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Ask, and delete. Raises `FrepoError` if the answer is not yes."""
        services = self.services()
        collection, number = (
            services.collections.find(arguments.id),
            _number(arguments.version) if arguments.version else None,
        )
        what = f"version v{number}" if number is not None else "all versions"
        self.require_yes(f"Delete {what} in the trash of {collection.id} for good?", given=arguments.yes)
        ended = services.trash.end(collection.id, number, by=None)
        text = f"Deleted {ended} {'version' if ended == 1 else 'versions'} in the trash of {collection.id}"
        return Outcome(text=text, records=[{"collection": collection.id, "deleted_versions": ended}])


def _number(text: str) -> int:
    number = parse_version_number(text)
    if number is None:
        raise FieldsError({"version": [f"{text!r} is not v<number>, such as v3, as `frepo backup:trash` lists it"]})
    return number
