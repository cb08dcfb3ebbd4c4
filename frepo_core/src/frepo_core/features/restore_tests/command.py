"""The command that tests whether a version can be restored."""

import argparse
from datetime import timedelta
from typing import Any

from frepo_core.cli.columns import Size
from frepo_core.cli.tables import ShowCommand
from frepo_core.domain.durations import parse_duration
from frepo_core.errors import FieldsError

from .feature import RestoreTestServices


class RestoreTest(ShowCommand):
    """Restore a version by its engine or into a command, and record the outcome. Exit status 1 if it could not be."""

    examples = ("frepo backup:test-restore shop.sql --command 'gunzip -t'",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument("--version", default="latest", help="latest, first, good, v<number> or the version's id")
        parser.add_argument(
            "--command",
            default="",
            metavar="LINE",
            help="e.g. 'gunzip -t'; it reads the version from its stdin. Default: the engine, or restore_tests.command",
        )
        parser.add_argument(
            "--timeout", metavar="TIME", help="kill the command after this time; default: restore_tests.timeout"
        )

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], tuple[Any, ...]]:
        services = self.services()
        collection = services.collections.find(arguments.id)
        result = services.feature(RestoreTestServices).tests.run(
            collection, arguments.version, command=arguments.command, timeout=_timeout(arguments.timeout), by=None
        )
        self._is_good = result.outcome == "good"
        return ("collection", "version", "outcome", "message", "read", "seconds", "output"), (
            collection.id,
            f"v{result.version.number}",
            self.word(result.outcome),
            result.message,
            Size(result.size),
            round(result.seconds, 3),
            result.output,
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Return 1 if the version could not be restored."""
        status = int(super().run(arguments))
        return status or int(not self._is_good)


def _timeout(text: str | None) -> timedelta | None:
    if text is None:
        return None
    try:
        length = parse_duration(text)
    except ValueError as error:
        raise FieldsError({"--timeout": [str(error)]}) from None
    if not length:
        raise FieldsError({"--timeout": ["must be longer than 0"]})
    return length
