"""Commands that list, show and edit collections."""

import argparse
from typing import TYPE_CHECKING, Any

from frepo_core.domain.durations import format_duration
from frepo_core.errors import FieldsError

from ...base import check_length
from ...columns import Moment, Size, Words
from ...limit_options import add_numbers, read_guards, read_limits
from ...tables import ListCommand, Record, Rows, ShowCommand
from ...terminal import read_password
from .create_collection import check_filename, read_options

if TYPE_CHECKING:
    from frepo_core.services.container import Services
    from frepo_core.services.records import CollectionRecord

COLUMNS = ("Id", "Name", "Versions", "Size", "Last version", "Created", "Description")
MAX_LISTED = 100_000
PAGE = 500


class ListCollections(ListCommand):
    """List the collections, newest first."""

    examples = ("frepo backup:list", "frepo backup:list --search shop -f json")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--search", default="", metavar="TEXT", help="part of the name, the description or the id")
        parser.add_argument("--limit", type=int, default=100, metavar="N", help="the number of rows; default: 100")
        return parser

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        """Return a row for each collection."""
        limit = check_limit(arguments.limit)
        services = self.services()
        return COLUMNS, [
            (
                record.id,
                record.filename,
                record.versions_count,
                Size(record.stored_size),
                f"v{record.last_number}" if record.last_number else None,
                Moment(record.created_at),
                record.description,
            )
            for record in _find(services, arguments.search, limit)
        ]


class ShowCollection(ShowCommand):
    """Show a collection: its limits and guards, its content, and the tokens that may use it."""

    examples = ("frepo backup:show 1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001",)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the arguments."""
        parser = super().get_parser(prog_name)
        parser.add_argument("id", help="the id of the collection")
        return parser

    def take_action(self, arguments: argparse.Namespace) -> Record:
        """Return the fields."""
        services = self.services()
        return show(services, services.collections.get(arguments.id))


class EditCollection(ShowCommand):
    """Edit a collection; options that are missing keep their values. Shows the collection after the change."""

    examples = ("frepo backup:edit 1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001 --max-backups-count 14 --min-retention 7d",)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the options: those of `backup:create-collection`, without short names, which are those of formats."""
        parser = super().get_parser(prog_name)
        parser.add_argument("id", help="the id of the collection")
        parser.add_argument("--description", help="a description for people")
        parser.add_argument("--filename", help="the file name of new versions")
        add_numbers(parser, has_short_names=False)
        parser.add_argument("--strategy", help="the strategy for a full collection; `frepo plugins` lists all")
        parser.add_argument("--strategy-options", metavar="JSON", help="options of the strategy, e.g. '{\"days\": 30}'")
        parser.add_argument("--password", help="password for new versions; -: read it from stdin; '': none")
        return parser

    def take_action(self, arguments: argparse.Namespace) -> Record:
        """Edit the collection and return its fields."""
        from frepo_core.services.collections.collection_change import CollectionChange
        from frepo_core.services.events.actors import console_identity

        change = CollectionChange(
            limits=read_limits(arguments),
            guards=read_guards(arguments),
            strategy=arguments.strategy,
            strategy_options=read_options(arguments.strategy_options),
            description=check_length("--description", arguments.description, 1024),
            filename=check_filename(arguments.filename) if arguments.filename is not None else None,
            password=check_length("--password", read_password(arguments.password, self.app.stdin), 250),
        )
        if change == CollectionChange(limits={}):
            raise FieldsError({"--help": ["nothing to change was given; it lists the options"]})
        services = self.services()
        return show(services, services.collections.edit(arguments.id, change, by=console_identity()))


def show(services: "Services", record: "CollectionRecord") -> Record:
    """Return the fields of a collection."""
    tokens = services.collection_access.tokens(record.id)
    guards, limits = record.guards, record.limits
    fields: dict[str, Any] = {
        "id": record.id,
        "name": record.filename,
        "description": record.description,
        "versions": record.versions_count,
        "stored_size": Size(record.stored_size),
        "last_number": record.last_number,
        "max_backups_count": limits.count,
        "max_one_version_size": Size(limits.one),
        "max_collection_size": Size(limits.total),
        "strategy": record.strategy,
        "strategy_options": record.strategy_options,
        "min_retention": format_duration(guards.min_retention),
        "min_version_size": Size(guards.min_version_size),
        "max_shrink_percent": guards.max_shrink_percent,
        "on_suspicious": guards.action,
        "password": "set" if record.password_hash else None,
        "created_at": Moment(record.created_at),
        "tokens": Words([token.fingerprint for token in tokens]),
    }
    return tuple(fields), tuple(fields.values())


def check_limit(limit: int) -> int:
    """Return the number of rows. Raises `FieldsError` if it is too small or too large."""
    if not 1 <= limit <= MAX_LISTED:
        raise FieldsError({"--limit": [f"must be from 1 to {MAX_LISTED}"]})
    return limit


def _find(services: "Services", text: str, limit: int) -> "list[CollectionRecord]":
    from frepo_core.services.events.actors import console_identity
    from frepo_core.services.files.listing import CollectionSearch

    found: list[CollectionRecord] = []
    number = 1
    while len(found) < limit:
        search = CollectionSearch(text=text, page=number, size=min(limit, PAGE))
        page = services.listing.collections(search, by=console_identity())
        found += page.rows
        if number >= page.last:
            break
        number += 1
    return found[:limit]
