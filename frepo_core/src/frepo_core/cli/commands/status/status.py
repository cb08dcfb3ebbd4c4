"""The command `frepo status`."""

import argparse
from typing import TYPE_CHECKING

from ...columns import Expected, Moment, Words
from ...tables import ListCommand, Rows

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

COLUMNS = ("What", "State", "Details")
OVERDUE_COLUMNS = ("Collection", "Name", "State", "Due", "Overdue", "Last arrival", "Expected every", "Labels")


class Status(ListCommand):
    """Say whether anything is wrong with the service or its backups. Exit status 1 if so, for cron and Nagios.

    With --overdue, list the collections whose backup is due and has not arrived. Exit status 1 if the grace of one is
    over.
    """

    long = frozenset({"Collection", "Overdue", "Labels"})
    nothing = "No backup is late or overdue."
    examples = ("frepo status", "frepo status --overdue -f value -c Name")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--overdue", action="store_true", help="list the collections whose backup has not arrived")
        return parser

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        """Return a row for each check, or for each collection whose backup is missing."""
        services = self.services()
        return self._overdue(services) if arguments.overdue else self._status(services)

    def run(self, arguments: argparse.Namespace) -> int:
        """Return 1 if something is wrong."""
        status = int(super().run(arguments))
        return status or int(self._is_wrong)

    def _status(self, services: "Services") -> Rows:
        from frepo_core.services.reports.status import read_status

        lines = read_status(services, services.health, services.overviews)
        self._is_wrong = not all(line.is_good for line in lines)
        return COLUMNS, [(line.subject, "ok" if line.is_good else "wrong", line.text) for line in lines]

    def _overdue(self, services: "Services") -> Rows:
        found = services.overviews.missing()
        self._is_wrong = bool(found.overdue)
        states = [("overdue", found.overdue), ("late", found.late)]
        return OVERDUE_COLUMNS, [
            (
                row.id,
                row.filename,
                state,
                Moment(row.due_at),
                Moment(row.overdue_at),
                Moment(row.arrived_at),
                Expected(row.expected_every),
                Words(row.labels),
            )
            for state, rows in states
            for row in rows
        ]
