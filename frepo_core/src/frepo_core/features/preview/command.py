"""The command that previews which versions of a collection are kept."""

import argparse
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from frepo_core.cli.base import bad_value
from frepo_core.cli.columns import Moment, Size, Words
from frepo_core.cli.error_messages import OPTIONS
from frepo_core.cli.limit_options import GUARDS, LIMITS, read_limits, read_options
from frepo_core.cli.tables import ListCommand, Rows
from frepo_core.domain.durations import parse_any_duration
from frepo_core.domain.sizes import parse_size

from .feature import PreviewServices

if TYPE_CHECKING:
    from frepo_core.services.backups.rows.collection_change import CollectionChange

    from .preview import Preview, UploadPlan
    from .timeline import Fate

VERSIONS = ("Version", "Time", "Size", "Imagined", "Kept", "Rules", "Evicted", "By", "Cause")
STORAGE = ("Day", "Versions", "Size", "Trash")


class RetentionPreview(ListCommand):
    """Show which versions are kept, and when others are evicted: of a collection, or of an imagined schedule.

    The rules may be others than those of the collection. Nothing is changed. Without a schedule, one upload now is
    simulated. With one, the table has the versions that are kept to the end, and with --all the others, too.
    """

    examples = (
        "frepo backup:preview shop.sql --strategy keep --strategy-options '{\"daily\": 30}'",
        "frepo backup:preview shop.sql --every 1d --for 730d --size 3GB --growth 1",
        "frepo backup:preview shop.sql --for 365d --storage -f csv",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument("--strategy", help="another strategy; `frepo plugins` lists all")
        parser.add_argument("--strategy-options", metavar="JSON", help="its options, e.g. '{\"daily\": 30}'")
        for number in (*LIMITS.values(), GUARDS["min_retention"]):
            parser.add_argument(number.flags[-1], metavar=number.metavar, help=number.help)
        parser.add_argument(
            "--every", metavar="TIME", help="imagine an upload each 1d, 6h, or at '0 2 * * * Europe/Warsaw'"
        )
        parser.add_argument("--for", dest="during", metavar="TIME", help="imagine uploads for so long; default: 730d")
        parser.add_argument(
            "--size", help="the size of the first upload, e.g. 3GB; default: that of the newest version"
        )
        parser.add_argument("--growth", metavar="PERCENT", help="how much the size grows in a month; default: 0")
        parser.add_argument(
            "--start", metavar="TIME", help="when the uploads begin, e.g. 2026-01-31T02:00Z; default: now"
        )
        parser.add_argument("--empty", action="store_true", help="begin without the versions that are there")
        parser.add_argument("--all", action="store_true", help="show the imagined versions that are evicted, too")
        parser.add_argument("--storage", action="store_true", help="show the storage at the end of each day instead")

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        """Return a row for each version, or for each day."""
        services = self.services()
        preview = services.feature(PreviewServices).previews.preview(
            services.collections.find(arguments.id).id, _change(arguments), _plan(arguments), is_empty=arguments.empty
        )
        self._warn(preview)
        if arguments.storage:
            days = preview.timeline.days
            return STORAGE, [(f"{day.day}", day.versions, Size(day.size), Size(day.trash_size)) for day in days]
        fates = preview.timeline.fates
        return VERSIONS, [
            self._row(fate) for fate in fates if arguments.all or fate.eviction is None or not fate.is_imagined
        ]

    def _row(self, fate: "Fate") -> tuple[Any, ...]:
        version, eviction = fate.version, fate.eviction
        return (
            f"v{version.number}",
            Moment(version.created_at),
            Size(version.size),
            fate.is_imagined,
            eviction is None,
            Words([*fate.rules, *([fate.protection] if fate.protection else [])]),
            Moment(eviction.at if eviction else None),
            f"v{eviction.by}" if eviction else "",
            eviction.cause if eviction else "",
        )

    def _warn(self, preview: "Preview") -> None:
        """Say on stderr which uploads are refused, and whether the simulation was ended early."""
        refused = preview.timeline.refused
        if refused:
            first = refused[0]
            reason = first.error.explain(OPTIONS) or first.error
            self.app.stderr.write(
                f"{len(refused)} uploads are refused, the first at {first.at:%Y-%m-%d %H:%M}: {reason}\n"
            )
        if not preview.timeline.is_complete:
            self.app.stderr.write("The simulation was ended early: the strategy needs too long.\n")


def _change(arguments: argparse.Namespace) -> "CollectionChange":
    from frepo_core.services.backups.rows.collection_change import CollectionChange

    min_retention = GUARDS["min_retention"].read(arguments)
    return CollectionChange(
        limits=read_limits(arguments),
        guards={} if min_retention is None else {"min_retention": min_retention},
        strategy=arguments.strategy,
        strategy_options=read_options(arguments.strategy_options),
    )


def _plan(arguments: argparse.Namespace) -> "UploadPlan | None":
    """Return the schedule, None if no option of it is given. Raises `FieldsError`."""
    from frepo_core.domain.schedules.backup_deadlines import parse_expectation

    from .preview import UploadPlan

    parsers: dict[str, tuple[str, Callable[[str], Any]]] = {
        "every": ("--every", parse_expectation),
        "during": ("--for", parse_any_duration),
        "size": ("--size", _size),
        "growth": ("--growth", _percent),
        "start": ("--start", _moment),
    }
    given: dict[str, Any] = {}
    for name, (option, parse) in parsers.items():
        if (text := getattr(arguments, name)) is None:
            continue
        try:
            given[name] = parse(text)
        except ValueError as error:
            raise bad_value(option, text, str(error)) from None
    if "during" in given:
        given["duration"] = given.pop("during")
    return UploadPlan(**given) if given else None


def _size(text: str) -> int:
    size = parse_size(text)
    if size < 0:
        raise ValueError("must not be negative")
    return size


def _percent(text: str) -> float:
    number = float(text)
    if not -50 <= number <= 100:
        raise ValueError("must be from -50 to 100 percent")
    return number


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
