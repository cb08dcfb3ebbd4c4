"""The command that compacts now, undoes that, or says what it would save."""

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from frepo_core.cli.columns import Report, outcome_of
from frepo_core.cli.progress import ProgressLine
from frepo_core.cli.tables import StorageCommand

from .feature import CompactServices

if TYPE_CHECKING:
    from frepo_core.plugins import JobContext


class Compact(StorageCommand):
    """Store older versions as the difference to newer ones now, also at the hour in which uploads come."""

    examples = ("frepo compact --dry-run", "frepo compact", "frepo compact --expand")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        mode = parser.add_mutually_exclusive_group()
        mode.add_argument("--dry-run", action="store_true", help="only say what would be encoded, and about its size")
        mode.add_argument(
            "--expand", action="store_true", help="store everything as it is again; may be stopped and run again"
        )

    def work(self, arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
        """Run it in the place of the job `compact`, and show the progress."""
        from frepo_core.services.events.actors import console_actor

        services = self.services()
        compaction = services.feature(CompactServices).compaction
        if arguments.expand and services.settings.compact:
            self.tell_people("The job encodes everything again: set compact = false and restart the service first.")
        with ProgressLine("compact") as line:

            def work(context: "JobContext") -> dict[str, Any]:
                keep_going = context.check_lease
                if arguments.dry_run:
                    forecast = compaction.forecast(keep_going=keep_going, progress=line)
                    return asdict(forecast)
                run = compaction.expand_all if arguments.expand else compaction.run
                report = run(keep_going=keep_going, progress=line)
                return report.summary()

            result = services.jobs.run("compact", cause=console_actor().name, work=work)
        rows = {"outcome": self.word(outcome_of(result.outcome, result.summary))} | Report(result.summary or {}).cells()
        rows |= {"error": result.error} if result.error else {}
        return rows, bool(result.error or (result.summary or {}).get("failed"))
