"""Splits many items into lists that one query or transaction can handle."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Split items, of which there may be any number, into lists of at most `size`."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
