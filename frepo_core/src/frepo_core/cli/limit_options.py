"""The options of a collection that are numbers: its limits, and the guards that are off by default."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from frepo_core.domain.durations import parse_duration
from frepo_core.domain.limits import COUNT, ONE, TOTAL
from frepo_core.domain.sizes import parse_size
from frepo_core.errors import FieldsError


@dataclass(frozen=True, kw_only=True)
class Number:
    """An option, the field of the API that it is, and how its text is read."""

    flags: tuple[str, ...]
    field: str
    metavar: str
    parse: Callable[[str], Any]
    help: str

    def read(self, arguments: argparse.Namespace) -> Any:
        """Return the value, None where the option is left out. Raises `FieldsError`."""
        text = getattr(arguments, self.flags[-1].removeprefix("--").replace("-", "_"))
        if text is None:
            return None
        try:
            value = self.parse(text)
        except ValueError as error:
            raise self._refused(str(error)) from None
        if isinstance(value, int) and value < 0:
            raise self._refused("number_cannot_be_negative_value")
        return value

    def _refused(self, text: str) -> FieldsError:
        return FieldsError({self.field: [text]}, "Form validation error")


def _count(text: str) -> int:
    if not text.removeprefix("-").isdecimal() or len(text) > 18:
        raise ValueError("expected_int_type")
    return int(text)


def _percent(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text[:4]) > 100:
        raise ValueError("expected_percent_from_0_to_100")
    return int(text)


LIMITS = (
    Number(
        flags=("-b", "--max-backups-count"),
        field=COUNT,
        metavar="N",
        parse=_count,
        help="at most N versions; 0: no limit",
    ),
    Number(
        flags=("-o", "--max-one-version-size"),
        field=ONE,
        metavar="SIZE",
        parse=parse_size,
        help="of one version, e.g. 2GB; 0: no limit",
    ),
    Number(
        flags=("-c", "--max-collection-size"),
        field=TOTAL,
        metavar="SIZE",
        parse=parse_size,
        help="of all versions; 0: no limit",
    ),
)
# By the names that the domain's `Guards` have.
GUARDS = {
    "min_retention": Number(
        flags=("--min-retention",),
        field="minRetention",
        metavar="TIME",
        parse=parse_duration,
        help="a younger version never goes, e.g. 48h or 7d",
    ),
    "min_version_size": Number(
        flags=("--min-version-size",),
        field="minVersionSize",
        metavar="SIZE",
        parse=parse_size,
        help="a smaller version is suspicious, e.g. an empty dump",
    ),
    "max_shrink_percent": Number(
        flags=("--max-shrink-percent",),
        field="maxShrinkPercent",
        metavar="N",
        parse=_percent,
        help="so is one that is more than N percent smaller than the one before",
    ),
}


def add_numbers(parser: argparse.ArgumentParser) -> None:
    """Add the options; their texts are read later, by the same rules as the API's."""
    for number in (*LIMITS, *GUARDS.values()):
        parser.add_argument(*number.flags, metavar=number.metavar, help=number.help)
    parser.add_argument(
        "--on-suspicious",
        choices=("refuse", "keep"),
        help="refuse a suspicious version (the default), or keep it as long as no other one has to go for it",
    )


def read_limits(arguments: argparse.Namespace) -> dict[str, int]:
    """Return the limits that were given, by their fields."""
    limits = {number.field: number.read(arguments) for number in LIMITS}
    return {field: value for field, value in limits.items() if value is not None}


def read_guards(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the guards that were given."""
    guards = {name: number.read(arguments) for name, number in GUARDS.items()} | {"action": arguments.on_suspicious}
    return {name: value for name, value in guards.items() if value is not None}
