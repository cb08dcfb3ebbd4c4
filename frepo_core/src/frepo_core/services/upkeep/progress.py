"""How long work is cut into pieces, and tells what it has done."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Progress(Protocol):
    """Called after each step."""

    def __call__(self, *, done: int, total: int, size: int) -> None:
        """Say that `done` of `total` blobs were worked on, the last of `size` bytes; a total of 0 is not known."""


def silent(*, done: int, total: int, size: int) -> None:
    """Tell nobody."""


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Cut what may be endless into lists of at most `size`."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
