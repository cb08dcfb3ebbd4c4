"""The command that shows the runs of a backup job, as its clients have reported them."""

import argparse
from typing import Any, get_args

from frepo_core.domain.backups.runs import RunOutcome

from ...columns import Moment
from ...tables import ListCommand

COLUMNS = (
    "Reported",
    "Outcome",
    "Reason",
    "Version",
    "Seconds",
    "Host",
    "Exit statuses",
    "Started",
    "Client",
    "By",
    "Output",
)


class Runs(ListCommand):
    """Show the runs of a collection's backup job that its clients have reported, newest first."""

    long = frozenset({"Exit statuses", "Started", "Client", "By", "Output"})
    nothing = "No client has reported a run."
    examples = ("frepo backup:runs shop.sql --outcome failed",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument(
            "--outcome",
            action="append",
            default=[],
            choices=get_args(RunOutcome),
            help="only runs with this outcome; may be repeated",
        )
        parser.add_argument("--limit", type=int, default=50, metavar="N", help="the number of rows; default: 50")

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return a row for each run. Raises `FieldsError` if there is no such collection."""
        from frepo_core.services.base.keyset import PageRequest

        services, page = self.services(), PageRequest(limit=max(arguments.limit, 1))
        collection = services.collections.find(arguments.id)
        return COLUMNS, [
            (
                Moment(run.at),
                self.word(run.outcome),
                run.reason,
                None if run.version_number is None else f"v{run.version_number}",
                run.seconds,
                run.host,
                " ".join(map(str, run.exit_statuses)),
                Moment(run.started_at),
                run.client,
                run.actor,
                run.error_output,
            )
            for run in services.runs.page(collection.id, page, arguments.outcome).items
        ]
