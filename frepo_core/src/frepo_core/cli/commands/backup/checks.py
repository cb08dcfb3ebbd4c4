"""The command that shows the results of checks of versions."""

import argparse
from typing import Any

from ...columns import Moment, Report
from ...tables import ListCommand

COLUMNS = ("Version", "Check", "Outcome", "Message", "At", "By", "Details")


class RestoreDetails(Report):
    """The details of a restore test: `read` is in bytes, too."""

    sizes = Report.sizes | {"read"}


class Checks(ListCommand):
    """Show what the checks of a collection's versions found, such as whether a backup is whole."""

    long = frozenset({"Details"})
    examples = ("frepo backup:checks shop.sql v3",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument(
            "version", nargs="?", help="latest, first, good, v<number> or the version's id; default: all"
        )

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return a row for each result. Raises `FieldsError` or `NotFoundError` if there is no such version."""
        from frepo_core.domain.backups.verdicts import RESTORE

        services = self.services()
        collection = services.collections.find(arguments.id)
        number = services.versions.find(collection.id, arguments.version).number if arguments.version else None
        return COLUMNS, [
            (
                f"v{one.version_number}",
                one.name,
                self.word(one.outcome),
                one.message,
                Moment(one.at),
                one.actor,
                (RestoreDetails if one.name == RESTORE else Report)(one.details),
            )
            for one in services.version_checks.of_collection(collection.id, number)
        ]
