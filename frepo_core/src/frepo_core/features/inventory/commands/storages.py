"""The command `frepo storages`."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from frepo_core.cli.columns import Moment, Size
from frepo_core.cli.tables import ListCommand, Rows

from ..feature import InventoryServices

if TYPE_CHECKING:
    from ..storages import StorageContent, StorageRecord

COLUMNS = ("Name", "Adapter", "Use", "State", "Since", "Free", "Blobs", "Size", "Collections", "Damaged")


class Storages(ListCommand):
    """List the storages that are configured or hold blobs: what is in each, how much is free, and whether it works.

    The use is `first` for plain files and for collections that name no other storage, `copies` for second copies,
    `named` for another one of `storages`, and `old` for one that is not configured any more and holds blobs. The state
    is what uploads and checks found last.
    """

    long = frozenset({"Adapter", "Since", "Blobs", "Collections"})
    examples = ("frepo storages",)

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        inventory = self.services().feature(InventoryServices).inventory
        found, contents = {one.name: one for one in inventory.storages()}, inventory.contents()
        return COLUMNS, [self._row(name, found.get(name), contents[name]) for name in sorted(contents)]

    def _row(self, name: str, one: "StorageRecord | None", content: "StorageContent") -> Sequence[Any]:
        trouble = one.trouble if one else None
        return (
            name,
            one.adapter if one else None,
            _use_of(one),
            self.word(trouble.state if trouble else "ok"),
            Moment(trouble.since if trouble else None),
            None if one is None or one.free_space is None else Size(one.free_space),
            content.blobs,
            Size(content.size),
            content.collections,
            one.damaged if one else 0,
        )


def _use_of(one: "StorageRecord | None") -> str:
    if one is None or not one.is_configured:
        return "old"
    return "first" if one.is_current else "copies" if one.is_mirror else "named"
