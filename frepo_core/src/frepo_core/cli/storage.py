"""Commands that move and keep bytes."""

import argparse
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from cliff.columns import FormattableColumn
from cliff.show import ShowOne

from frepo_core.domain.durations import parse_duration
from frepo_core.domain.sizes import format_size
from frepo_core.errors import FieldsError

from .base import FrepoCommand
from .progress import ProgressBar

Report = tuple[tuple[str, ...], tuple[Any, ...]]


class Size(FormattableColumn[int]):
    """Bytes: in words in a table, a number elsewhere."""

    def human_readable(self) -> str:
        """Write it as people do."""
        return format_size(self._value)


class StorageCommand(FrepoCommand, ShowOne):
    """A command that works on many blobs, shows its progress, and reports; exit status 1 when something is wrong."""

    def take_action(self, arguments: argparse.Namespace) -> Report:
        """Work and report."""
        rows, self._is_wrong = self.work(arguments)
        return tuple(rows), tuple(rows.values())

    def run(self, arguments: argparse.Namespace) -> int:
        """Return 1 where the report tells of something wrong, so that cron mails it."""
        status = int(super().run(arguments))
        return status or int(self._is_wrong)

    def work(self, arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
        """Return the report's rows, and whether something is wrong."""
        raise AssertionError("each command says what its work is")


class Verify(StorageCommand):
    """Read blobs back and compare them with their digests; damage is reported and marked, never deleted."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take how much to read."""
        parser = super().get_parser(prog_name)
        share = parser.add_mutually_exclusive_group()
        share.add_argument("--percent", type=float, default=100, metavar="N", help="of the blobs, longest unread first")
        share.add_argument("--older-than", metavar="TIME", help="only what was not checked for so long, e.g. 30d")
        return parser

    def work(self, arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
        """Verify."""
        from frepo_core.services.maintenance import verify

        if not 0 < arguments.percent <= 100:
            raise FieldsError({"percent": ["a number over 0 and up to 100"]})
        older_than = _duration("older-than", arguments.older_than) if arguments.older_than else None
        services = self.services()
        with ProgressBar("verify") as progress:
            report = verify(
                services.database,
                services.backends,
                percent=arguments.percent,
                older_than=older_than,
                progress=progress,
            )
        damaged = [f"{each.storage} {each.key}: {each.problem}" for each in report.damaged]
        return {"checked": report.checked, "size": Size(report.size), "damaged": damaged}, bool(damaged)


class Sweep(StorageCommand):
    """Delete blobs that belong to no record, and report records whose bytes are gone and files of others."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take what is left alone."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--grace", default="48h", metavar="TIME", help="leave what is younger, at least 1h; default: 48h"
        )
        parser.add_argument("--dry-run", action="store_true", help="report only, delete nothing")
        parser.add_argument(
            "--yes-delete", type=int, metavar="N", help="delete up to N blobs; default: stop above 20 %% of all"
        )
        parser.add_argument("--storage", metavar="NAME", help="default: the one in use for new blobs")
        return parser

    def work(self, arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
        """Sweep."""
        from frepo_core.services.maintenance import check_grace, sweep

        grace = _duration("grace", arguments.grace, check_grace)
        services = self.services()
        with ProgressBar("sweep") as progress:
            report = sweep(
                services.database,
                services.backends,
                services.blobs,
                storage=arguments.storage or services.backends.current,
                grace=grace,
                dry_run=arguments.dry_run,
                most=arguments.yes_delete,
                progress=progress,
            )
        rows = {
            "dry_run": arguments.dry_run,
            "blobs": report.blobs,
            "orphans": report.orphans,
            "orphan_size": Size(report.orphan_size),
            "unused": report.unused,
            "leftovers": report.leftovers,
            "missing": list(report.missing),
            "foreign": report.foreign,
            "foreign_examples": list(report.foreign_examples),
        }
        return rows, bool(report.missing)


class Migrate(StorageCommand):
    """Move all blobs from one storage to another while the service runs; may be stopped and run again."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take from where to where."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--from", dest="source", required=True, metavar="NAME", help="e.g. local")
        parser.add_argument("--to", dest="target", required=True, metavar="NAME", help="e.g. awss3v3")
        parser.add_argument("--purge", action="store_true", help="delete from the source what was moved")
        return parser

    def work(self, arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
        """Migrate."""
        from frepo_core.services.maintenance import Migrator

        if arguments.source == arguments.target:
            raise FieldsError({"to": ["another storage than --from"]})
        services = self.services()
        services.backends.check_name(arguments.source)
        services.backends.check_name(arguments.target)
        migrator = Migrator(services.database, services.backends, source=arguments.source, target=arguments.target)
        with ProgressBar("migrate") as progress:
            report = migrator.run(purge=arguments.purge, progress=progress)
        rows = {
            "moved": report.moved,
            "size": Size(report.size),
            "purged": report.purged,
            "failed": list(report.failed),
        }
        return rows, bool(report.failed)


class RebuildIndex(StorageCommand):
    """Tell what the keys of a storage alone can tell, for the day on which the database is gone."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take which storage."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--dry-run", action="store_true", help="required: names and collections are not in keys")
        parser.add_argument("--storage", metavar="NAME", help="default: the one in use for new blobs")
        return parser

    def work(self, arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
        """Read the keys."""
        from frepo_core.services.maintenance import read_index

        if not arguments.dry_run:
            raise FieldsError(
                {"dry-run": ["is required: keys carry digests, but no names and no collections, to rebuild from"]}
            )
        services = self.services()
        storage = arguments.storage or services.backends.current
        services.backends.check_name(storage)
        backend = services.backends.get(storage)
        with ProgressBar("rebuild-index") as progress:
            report = read_index(services.database, backend, storage=storage, progress=progress)
        rows = {
            "keys": report.keys,
            "size": Size(report.size),
            "contents": report.contents,
            "unknown": report.unknown,
            "foreign": list(report.foreign),
        }
        return rows, False


def _duration(name: str, text: str, check: Callable[[timedelta], timedelta] | None = None) -> timedelta:
    try:
        length = parse_duration(text)
        return check(length) if check else length
    except ValueError as error:
        raise FieldsError({name: [str(error)]}) from None
