"""Commands that list, show and delete files."""

import argparse
from typing import TYPE_CHECKING, Any

from frepo_core.domain.naming import check_tag
from frepo_core.errors import FieldsError

from ...columns import Moment, Size, Words
from ...outcomes import ActionCommand, Outcome
from ...service_address import address_of
from ...tables import ListCommand, Record, Rows, ShowCommand

if TYPE_CHECKING:
    from frepo_core.services.base.records import FileRecord
    from frepo_core.services.composition.container import Services

COLUMNS = ("Name", "Size", "Type", "Tags", "Public", "Password", "Time", "SHA-256")
MAX_LISTED = 100_000
PAGE = 500


class ListFiles(ListCommand):
    """List the files, newest first. Versions of backups are not listed: see backup:versions."""

    long = frozenset({"Type", "Password", "SHA-256"})
    examples = ("frepo file:list", "frepo file:list --search holiday --tag beach -f json")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--search", default="", metavar="TEXT", help="part of the name")
        parser.add_argument(
            "--tag", action="append", default=[], help="files with this tag; may be repeated: any of them"
        )
        parser.add_argument(
            "--type",
            action="append",
            default=[],
            metavar="MIME",
            help="files of this type; may be repeated: any of them",
        )
        parser.add_argument("--limit", type=int, default=100, metavar="N", help="the number of rows; default: 100")

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        if not 1 <= arguments.limit <= MAX_LISTED:
            raise FieldsError({"--limit": [f"must be from 1 to {MAX_LISTED}"]})
        found = _find(self.services(), arguments)
        return COLUMNS, [tuple(_fields(file).values()) for file in found]


class ShowFile(ShowCommand):
    """Show a file."""

    examples = ("frepo file:show 2cf24dba5fholiday.jpg",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", help="the stored name of the file, as file:list shows it")

    def take_action(self, arguments: argparse.Namespace) -> Record:
        services = self.services()
        file = services.files.find(arguments.name)
        return show(services, file)


class DeleteFile(ActionCommand):
    """Delete a file. It cannot be restored."""

    examples = ("frepo file:delete 2cf24dba5fholiday.jpg --yes",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", help="the stored name of the file, as file:list shows it")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Ask, and delete. Raises `FrepoError` if the answer is not yes."""
        from frepo_core.services.events.actors import console_identity

        services = self.services()
        file = services.files.find(arguments.name)
        shown = f"{file.stored_name} (of {file.created_at:%Y-%m-%d %H:%M} UTC)"
        self.require_yes(f"Delete {shown}?", given=arguments.yes)
        services.files.delete(file.stored_name, "", by=console_identity())
        record = {"name": file.stored_name, "id": file.id, "created_at": Moment(file.created_at), "deleted": True}
        return Outcome(text=f"Deleted {shown}", records=[record])


def show(services: "Services", file: "FileRecord") -> Record:
    """Return the fields of a file for `-f`. `address` and `path` are where the service serves it."""
    fields = {name.lower().replace("-", ""): value for name, value in _fields(file).items()}
    fields |= {
        "id": file.id,
        "requested_name": file.requested_name,
        "damaged": file.blob.is_damaged,
        "storage": file.blob.storage,
        "path": (path := services.links.plain(file.stored_name)),
        "address": address_of(services.settings) + path,
    }
    return tuple(fields), tuple(fields.values())


def tags_of(names: list[str]) -> list[str]:
    """Return valid tags. Raises `FieldsError`."""
    try:
        return [check_tag(name) for name in names]
    except ValueError as error:
        raise FieldsError({"--tag": [str(error)]}) from None


def _fields(file: "FileRecord") -> dict[str, Any]:
    values = (
        file.stored_name,
        Size(file.blob.size),
        file.blob.mime,
        Words(file.tags),
        file.public,
        "set" if file.password_hash else "",
        Moment(file.created_at),
        file.blob.digest,
    )
    return dict(zip(COLUMNS, values, strict=True))


def _find(services: "Services", arguments: argparse.Namespace) -> "list[FileRecord]":
    from frepo_core.services.events.actors import console_identity
    from frepo_core.services.files.listing import FileSearch

    found: list[FileRecord] = []
    number = 1
    while len(found) < arguments.limit:
        search = FileSearch(
            text=arguments.search,
            tags=tags_of(arguments.tag),
            mimes=arguments.type,
            page=number,
            size=min(arguments.limit, PAGE),
        )
        page = services.listing.files(search, by=console_identity())
        found += [listed.file for listed in page.rows]
        if number >= page.last:
            break
        number += 1
    return found[: arguments.limit]
