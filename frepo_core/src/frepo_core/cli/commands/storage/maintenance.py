"""Commands for the upkeep of storages."""

import argparse
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from frepo_core.domain.durations import parse_duration
from frepo_core.errors import FieldsError

from ...columns import Size
from ...progress import ProgressBar
from ...tables import StorageCommand


class Verify(StorageCommand):
    """Read blobs back and compare them with their digests; damage is reported and marked, never deleted."""

    examples = ("frepo storage:verify --older-than 30d -f json",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        share = parser.add_mutually_exclusive_group()
        share.add_argument(
            "--percent",
            type=float,
            default=100,
            metavar="N",
            help="percentage of the blobs; those not checked for the longest time first",
        )
        share.add_argument(
            "--older-than", metavar="TIME", help="only blobs that were last checked before this time, e.g. 30d"
        )

    def work(self, arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
        from frepo_core.services.upkeep.storage import VerifyOptions, verify, verify_copies

        if not 0 < arguments.percent <= 100:
            raise FieldsError({"percent": ["must be greater than 0 and at most 100"]})
        older_than = _duration("older-than", arguments.older_than) if arguments.older_than else None
        services = self.services()
        with ProgressBar("verify") as progress:
            options: VerifyOptions = {"percent": arguments.percent, "older_than": older_than, "progress": progress}
            report = verify(services.database, services.backends, **options)
        with ProgressBar("verify copies") as progress:
            options["progress"] = progress
            report += verify_copies(services.database, services.backends, services.copies.storages(), **options)
        damaged = [f"{each.storage} {each.key}: {each.problem}" for each in report.damaged]
        return {"checked": report.checked, "size": Size(report.size), "damaged": damaged}, bool(damaged)


class Sweep(StorageCommand):
    """Delete blobs without a record; report records without bytes, and foreign files."""

    examples = ("frepo storage:sweep --dry-run",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--grace", default="48h", metavar="TIME", help="keep younger blobs; at least 1h; default: 48h"
        )
        parser.add_argument("--dry-run", action="store_true", help="report only, delete nothing")
        parser.add_argument(
            "--yes-delete", type=int, metavar="N", help="delete up to N blobs; default: stop above 20 %% of all"
        )
        parser.add_argument(
            "--unknown", action="store_true", help="also delete what is kept for 30 days after an adoption"
        )
        parser.add_argument("--storage", metavar="NAME", help="default: the storage for new blobs")

    def work(self, arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
        from frepo_core.services.upkeep.storage import SweepPlan, check_grace, sweep

        grace = _duration("grace", arguments.grace, check_grace)
        services = self.services()
        storage = arguments.storage or services.backends.current
        services.backends.check_name(storage)
        with ProgressBar("sweep") as progress:
            report = sweep(
                services.database,
                services.backends,
                services.blobs,
                SweepPlan(
                    storage=storage,
                    grace=grace,
                    dry_run=arguments.dry_run,
                    most=arguments.yes_delete,
                    deletes_unknown=arguments.unknown,
                ),
                progress=progress,
            )
        rows = {
            "dry_run": arguments.dry_run,
            "blobs": report.blobs,
            "orphans": report.orphans,
            "orphan_size": Size(report.orphan_size),
            "older_orphans": report.older,
            "kept": report.kept,
            "unused": report.unused,
            "leftovers": report.leftovers,
            "missing": list(report.missing),
            "foreign": report.foreign,
            "foreign_examples": list(report.foreign_examples),
            "dispute": report.dispute,
        }
        return rows, bool(report.missing or report.dispute)


def _duration(name: str, text: str, check: Callable[[timedelta], timedelta] | None = None) -> timedelta:
    try:
        length = parse_duration(text)
        return check(length) if check else length
    except ValueError as error:
        raise FieldsError({name: [str(error)]}) from None
