"""The command `frepo storage:usage`."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from frepo_core.errors import FieldsError

from ...columns import Size
from ...tables import ListCommand, Rows

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

COLUMNS = ("Collection", "Name", "Versions", "Size", "Limit", "Growth a day", "Full on", "Stored")
MAX_LIMIT = 100_000


class Usage(ListCommand):
    """Show how much space the service and its largest collections use, how fast they grow, and when they are full.

    The first row is the whole service: its size is that of the stored contents, each counted once, and its limit is
    that size and the free space of the storage. `Stored` is what the versions of a collection take, equal contents
    once: less than their size if they are compacted. Growth is that of the last 30 days, measured once a day by the job
    `samples`.
    """

    long = frozenset({"Collection", "Stored"})
    examples = ("frepo storage:usage", "frepo storage:usage --limit 10 -f csv")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--limit", type=int, default=50, metavar="N", help="number of collections; default: 50")
        return parser

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        """Return a row for the service and one for each collection."""
        if not 1 <= arguments.limit <= MAX_LIMIT:
            raise FieldsError({"limit": [f"must be at least 1 and at most {MAX_LIMIT}"]})
        return COLUMNS, list(_rows(self.services(), arguments.limit))


def _rows(services: "Services", limit: int) -> Iterator[tuple[Any, ...]]:
    overview = services.overviews.read()
    stored, free = overview.sizes.stored, overview.free_space
    usages = services.overviews.usage(limit)
    yield (
        None,
        f"the service (storage {overview.storage})",
        overview.collections.versions,
        Size(stored),
        None if free is None else Size(stored + free),
        _growth(overview.growth.per_day),
        _day(overview.growth.full_on),
        Size(stored),
    )
    usages = list(usages)
    space = services.compact_spaces.read_stored([one.id for one in usages])
    for one in usages:
        most = Size(one.max_size) if one.max_size else None
        growth, full_on = _growth(one.growth.per_day), _day(one.growth.full_on)
        yield one.id, one.name, one.versions, Size(one.size), most, growth, full_on, Size(space.get(one.id, 0))


def _growth(per_day: int | None) -> Any:
    return None if per_day is None else Growth(per_day)


def _day(day: Any) -> str | None:
    return day.isoformat() if day else None


class Growth(Size):
    """A number of bytes that may be negative."""

    def human_readable(self) -> str:
        """Format the growth for people."""
        return f"-{Size(-self._value).human_readable()}" if self._value < 0 else super().human_readable()
