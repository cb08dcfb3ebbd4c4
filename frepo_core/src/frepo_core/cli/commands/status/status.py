"""The command `frepo status`."""

import argparse
from typing import TYPE_CHECKING

from ...columns import Expected, Moment, Words
from ...tables import ListCommand, Rows
from .exit_statuses import StatusCommand

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

COLUMNS = ("What", "State", "Details")
OVERDUE_COLUMNS = ("Collection", "Name", "State", "Due", "Overdue", "Last arrival", "Expected every", "Labels")


class Status(StatusCommand, ListCommand):
    """Say whether anything is wrong with the service or its backups.

    With --overdue, list the collections whose backup is due and has not arrived. The exit status is that of a Nagios
    plug-in: 0 if all is well, 1 if a collection is suspicious or late, 2 if anything worse is wrong, 3 if it cannot
    say.
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

    def _status(self, services: "Services") -> Rows:
        from frepo_core.services.reports.status import read_status

        lines = read_status(services, services.health, services.overviews)
        self.severity = max(line.severity for line in lines)
        return COLUMNS, [(line.subject, self.word(line.severity.name.lower()), line.text) for line in lines]

    def _overdue(self, services: "Services") -> Rows:
        from frepo_core.services.backups.collections.states import BackupState, severity_of

        found = services.overviews.missing()
        states = [(BackupState.OVERDUE, found.overdue), (BackupState.LATE, found.late)]
        self.severity = max((severity_of(state) for state, rows in states if rows), default=0)
        return OVERDUE_COLUMNS, [
            (
                row.id,
                row.filename,
                self.word(state.value),
                Moment(row.due_at),
                Moment(row.overdue_at),
                Moment(row.arrived_at),
                Expected(row.expected_every),
                Words(row.labels),
            )
            for state, rows in states
            for row in rows
        ]
