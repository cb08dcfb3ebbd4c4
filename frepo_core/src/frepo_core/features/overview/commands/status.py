"""The command `frepo status`."""

import argparse
from typing import TYPE_CHECKING

from frepo_core.cli.columns import Expected, Moment, Words
from frepo_core.cli.commands.backup.exit_statuses import StatusCommand
from frepo_core.cli.tables import ListCommand, Rows

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services


COLUMNS = ("What", "State", "Details")
MOST_UNTESTED = 100_000
UNTESTED_COLUMNS = ("Collection", "Name", "Last good test", "Last test", "Outcome", "Labels")
OVERDUE_COLUMNS = ("Collection", "Name", "State", "Due", "Overdue", "Last arrival", "Expected every", "Labels")


class Status(StatusCommand, ListCommand):
    """Say whether anything is wrong with the service or its backups.

    A mass failure with a common cause is one line, such as a storage that is down; --all names each collection.
    With --overdue, list the collections whose backup is due and has not arrived; with --untested, those whose last good
    restore test is too long ago, which is a warning. The exit status is that of a Nagios plug-in: 0 if all is well, 1
    if a collection is suspicious or late, or the settings differ from a promotion, 2 if anything worse is wrong, 3 if
    it cannot say.
    """

    long = frozenset({"Collection", "Overdue", "Labels"})
    nothing = "No backup is late or overdue."
    examples = ("frepo status", "frepo status --overdue -f value -c Name")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        lists = parser.add_mutually_exclusive_group()
        lists.add_argument("--all", action="store_true", help="name all collections that are not well, one a line")
        lists.add_argument("--overdue", action="store_true", help="list the collections whose backup has not arrived")
        lists.add_argument(
            "--untested",
            action="store_true",
            help="list the collections without a good restore test for `restore_tests.every`",
        )

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        """Return a row for each check, or for each collection whose backup is missing."""
        services = self.services()
        if arguments.untested:
            return self._untested(services)
        return self._overdue(services) if arguments.overdue else self._status(services, names_all=arguments.all)

    def _status(self, services: "Services", *, names_all: bool) -> Rows:
        from ..status import read_status

        lines = read_status(services, names_all=names_all)
        self.severity = max(line.severity for line in lines)
        return COLUMNS, [(line.subject, self.word(line.severity.name.lower()), line.text) for line in lines]

    def _untested(self, services: "Services") -> Rows:
        found = services.restore_ages.find_untested(MOST_UNTESTED)
        self.severity = int(bool(found.number))
        self.nothing = "Each collection had a good restore test in time."
        return UNTESTED_COLUMNS, [
            (
                row.id,
                row.filename,
                Moment(row.restore_tested_at),
                Moment(row.restore_tried_at),
                self.word(row.restore_outcome or ""),
                Words(row.labels),
            )
            for row in found.collections
        ]

    def _overdue(self, services: "Services") -> Rows:
        from frepo_core.services.backups.collections.states import BackupState, severity_of

        found = services.collection_states.missing()
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
