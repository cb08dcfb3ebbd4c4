"""The command `frepo storage:check`."""

import argparse
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from frepo_core.cli.columns import Size
from frepo_core.cli.progress import ProgressLine
from frepo_core.cli.tables import ListCommand, Rows
from frepo_core.domain.durations import parse_duration
from frepo_core.errors import FieldsError

if TYPE_CHECKING:
    from .storage_check import StorageCheck

COLUMNS = (
    *("Storage", "State", "Promises", "Size", "Decodes", "Lacks", "Read"),
    *("Only here", "Only here size", "Versions", "Files", "Trash"),
)


class Check(ListCommand):
    """Show what each storage promises, what of it it can decode, and what was read there: the state of the records.

    `Only here` is what a fire of the storage would cost: contents that no other storage that works can decode, and the
    versions, files and entries of the trash that have them. If there is a row without a storage, it has what can be
    decoded nowhere any more; the exit status is 1 then.
    """

    long = frozenset({"Size", "Only here size", "Files", "Trash"})
    examples = ("frepo storage:check", "frepo storage:check --read-within 7d -f json")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--read-within", default="30d", metavar="TIME", help="when contents count as read; default: 30d"
        )

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        from .storage_check import check_storages

        services = self.services()
        with ProgressLine("check") as notes:
            found = check_storages(
                services,
                read_within=_duration(arguments.read_within),
                progress=lambda contents: notes(f"{contents} contents compared"),
            )
        self._is_wrong = bool(found.lost.contents)
        return COLUMNS, list(_rows(found))

    def run(self, arguments: argparse.Namespace) -> int:
        """Return 1 if a content can be decoded nowhere."""
        status = int(super().run(arguments))
        return status or int(self._is_wrong)


def _rows(found: "StorageCheck") -> Iterator[tuple[Any, ...]]:
    for one in found.storages:
        fire = one.only_here
        of_it = (one.promised.contents, Size(one.promised.size), one.decodable.contents, one.lacks, one.read.contents)
        yield (
            one.storage,
            "unavailable" if one.trouble else "ok",
            *of_it,
            fire.contents,
            Size(fire.size),
            fire.versions,
            fire.files,
            fire.trash,
        )
    if lost := found.lost.contents and found.lost:
        nothing = (None, None, None, None, None, None)
        yield None, *nothing, lost.contents, Size(lost.size), lost.versions, lost.files, lost.trash


def _duration(text: str) -> timedelta:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise FieldsError({"read-within": [str(error)]}) from None
