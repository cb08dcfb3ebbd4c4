"""The command that runs the job `mirror` now."""

import argparse
from typing import Any

from frepo_core.cli.columns import Report
from frepo_core.cli.tables import StorageCommand
from frepo_core.errors import FieldsError

from ..feature import SecondCopyServices


class Mirror(StorageCommand):
    """Make the second copies that are due now; delete those of contents that were deleted, after their delay."""

    examples = ("frepo storage:mirror",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--yes-delete",
            type=int,
            metavar="N",
            help="delete up to N second copies; default: stop above 20 %% of all within a day",
        )
        parser.add_argument("--storage", metavar="NAME", help="for --yes-delete; default: that of the setting mirror")

    def work(self, arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
        """Confirm the number of deletions and run the job."""
        from frepo_core.services.events.actors import console_actor

        services = self.services()
        storage = arguments.storage or services.backends.mirror
        if not storage:
            raise FieldsError({"storage": ["is required, because the setting mirror names no storage"]})
        services.backends.check_name(storage)
        if arguments.yes_delete is not None:
            services.feature(SecondCopyServices).mirror.confirm(storage, arguments.yes_delete)
        result = services.jobs.run("mirror", cause=console_actor().name)
        rows = {"outcome": self.word(str(result.outcome))} | Report(result.summary or {}).cells()
        if result.error:
            rows["error"] = result.error
        return rows, bool(result.error or rows.get("problem"))
