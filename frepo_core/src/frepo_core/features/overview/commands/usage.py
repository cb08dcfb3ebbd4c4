"""The command `frepo storage:usage`."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cliff.columns import FormattableColumn

from frepo_core.cli.columns import Size
from frepo_core.cli.tables import ListCommand, Rows
from frepo_core.errors import FieldsError

from ...compact.feature import CompactServices
from ..feature import OverviewServices

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

COLUMNS = ("Collection", "Name", "Versions", "Size", "Limit", "Growth a day", "Full on", "Stored")
MAX_LIMIT = 100_000


class Usage(ListCommand):
    """Show how much space the service and its largest collections use, how fast they grow, and when they are full.

    The first row is the whole service: its size is that of the stored contents, each counted once, and its limit is
    that size and the free space of the storage. `Stored` is what the versions of a collection take, equal contents
    once: less than their size if they are compacted. `Full on` is for the limit that is reached first: the number of
    versions, their size, or the disk; `full since` is said of one that refuses uploads. Growth is that of the last 30
    days, measured once a day by the job `samples`.
    """

    long = frozenset({"Collection", "Stored"})
    examples = ("frepo storage:usage", "frepo storage:usage --limit 10 -f csv")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--limit", type=int, default=50, metavar="N", help="number of collections; default: 50")

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        """Return a row for the service and one for each collection."""
        if not 1 <= arguments.limit <= MAX_LIMIT:
            raise FieldsError({"limit": [f"must be at least 1 and at most {MAX_LIMIT}"]})
        return COLUMNS, list(_rows(self.services(), arguments.limit))


def _rows(services: "Services", limit: int) -> Iterator[tuple[Any, ...]]:
    overviews = services.feature(OverviewServices).overviews
    overview = overviews.read()
    stored, free = overview.sizes.stored, overview.free_space
    yield (
        None,
        f"the service (storage {overview.storage})",
        overview.collections.versions,
        Size(stored),
        None if free is None else Size(stored + free),
        _growth(overview.growth.per_day),
        FullOn(overview.growth),
        Size(stored),
    )
    usages = overviews.usage(limit, overview)
    space = services.feature(CompactServices).spaces.read_stored([one.id for one in usages])
    for one in usages:
        most = Size(one.max_size) if one.max_size else None
        growth, full_on = _growth(one.growth.per_day), FullOn(one.growth)
        yield one.id, one.name, one.versions, Size(one.size), most, growth, full_on, Size(space.get(one.id, 0))


def _growth(per_day: int | None) -> Any:
    return None if per_day is None else Growth(per_day)


class FullOn(FormattableColumn[Any]):
    """A `Growth`: the day on which the first of the limits is reached, or was if the collection refuses uploads."""

    def human_readable(self) -> str:
        """Return the day, and which limit it is."""
        day = self.machine_readable()
        if day is None:
            return ""
        limit = f" ({self._value.full_by})" if self._value.full_by else ""
        return f"full since {day}{limit}" if self._value.is_full else f"{day}{limit}"

    def machine_readable(self) -> str | None:
        """Return the day in ISO 8601."""
        return self._value.full_on.isoformat() if self._value.full_on else None


class Growth(Size):
    """A number of bytes that may be negative."""

    def human_readable(self) -> str:
        """Format the growth for people."""
        return f"-{Size(-self._value).human_readable()}" if self._value < 0 else super().human_readable()
