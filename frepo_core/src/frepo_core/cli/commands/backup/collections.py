"""Commands that list, show and edit collections."""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from frepo_core.domain.durations import format_duration
from frepo_core.errors import FieldsError, FrepoError

from ...columns import CountLimit, Expected, Moment, Size, SizeLimit, Words, held_fields
from ...error_messages import OPTIONS
from ...limit_options import add_expectation, add_numbers, read_change
from ...service_address import address_of
from ...tables import ListCommand, Record, Rows, ShowCommand
from ...terminal import read_password
from .create_collection import cron_line, upload_url

if TYPE_CHECKING:
    from frepo_core.services.backups.collections.states import BackupState, StateRecord
    from frepo_core.services.base.records import CollectionRecord, VersionRecord
    from frepo_core.services.composition.container import Services

COLUMNS = (
    "Id",
    "Name",
    "State",
    "States",
    "Since",
    "Last version",
    "Arrived",
    "Versions",
    "Size",
    "Pinned",
    "On hold since",
    "Quarantined",
    "Unchanged nights",
    "Labels",
    "Description",
)
MAX_LISTED = 100_000
PAGE = 500


class ListCollections(ListCommand):
    """List the collections with their states, newest first; or those in some states, the worst first."""

    long = frozenset({"Id", "States", "Since", "Pinned", "Quarantined", "Unchanged nights", "Labels", "Description"})
    examples = ("frepo backup:list", "frepo backup:list --state overdue --state late -f json")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--search", default="", metavar="TEXT", help="part of the name, the description or the id")
        parser.add_argument(
            "--state",
            action="append",
            default=[],
            help="only those to which it applies: damaged, overdue, failed, full, suspicious, late, new or ok; may be "
            "repeated",
        )
        parser.add_argument(
            "--unchanged",
            type=int,
            default=0,
            metavar="NIGHTS",
            help="only those whose newest content has arrived again on so many later days, or more",
        )
        parser.add_argument("--limit", type=int, default=100, metavar="N", help="the number of rows; default: 100")

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        limit = check_limit(arguments.limit)
        return COLUMNS, [
            (
                record.id,
                record.filename,
                self.word(state.state.value),
                Words([one.value for one in state.states]),
                Moment(state.since),
                f"v{newest.number}" if newest else "",
                Moment(newest.created_at if newest else None),
                record.versions_count,
                Size(record.stored_size),
                record.pinned_count,
                Moment(record.hold.since if record.hold else None),
                record.quarantined_count,
                record.unchanged_nights,
                Words(record.labels),
                record.description,
            )
            for record, newest, state in _find(self.services(), arguments, limit)
        ]


class ShowCollection(ShowCommand):
    """Show a collection: its limits and guards, its content, and the tokens that may use it."""

    examples = ("frepo backup:show shop.sql",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")

    def take_action(self, arguments: argparse.Namespace) -> Record:
        services = self.services()
        return show(services, services.collections.find(arguments.id))


class EditCollection(ShowCommand):
    """Edit a collection; options that are missing keep their values. Shows the collection after the change."""

    examples = ("frepo backup:edit shop.sql --max-backups-count 14 --min-retention 7d",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Define the options: those of `backup:create-collection`, whose -c and -f are those of formats here."""
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument("-d", "--description", help="a description for people")
        parser.add_argument("--filename", help="the file name of new versions")
        add_numbers(parser, short_names="bo", shows_defaults=False)
        add_expectation(parser)
        parser.add_argument("-s", "--strategy", help="the strategy for a full collection; `frepo plugins` lists all")
        parser.add_argument("--strategy-options", metavar="JSON", help="options of the strategy, e.g. '{\"days\": 30}'")
        parser.add_argument("-p", "--password", help="password for new versions; -: read it from stdin; '': none")

    def take_action(self, arguments: argparse.Namespace) -> Record:
        """Edit the collection and return its fields."""
        from frepo_core.services.backups.rows.collection_change import CollectionChange
        from frepo_core.services.events.actors import console_identity

        change = read_change(arguments, password=read_password(arguments.password, self.app.stdin))
        if change == CollectionChange(limits={}):
            raise FrepoError("Nothing to change was given: `frepo backup:edit --help` lists the options")
        services = self.services()
        edited = services.collections.edit(services.collections.find(arguments.id).id, change, by=console_identity())
        names, values = show(services, edited.collection)
        if edited.next_upload is None:
            return names, values
        upcoming = edited.next_upload
        values = (*values, Words([f"v{number}" for number in upcoming.evicts]), upcoming.refusal(OPTIONS))
        return (*names, "next_upload_evicts", "next_upload_refused"), values


def show(services: "Services", record: "CollectionRecord") -> Record:
    """Return the fields of a collection."""
    tokens = services.token_lists.tokens(record.id)
    guards, limits = record.guards, record.limits
    state = services.collection_states.read([record.id])[record.id]
    fields: dict[str, Any] = {
        "id": record.id,
        "state": state.state.value,
        "states": Words([one.value for one in state.states]),
        "name": record.filename,
        "description": record.description,
        "versions": record.versions_count,
        "stored_size": Size(record.stored_size),
        "pinned": record.pinned_count,
        **held_fields(record.hold),
        "quarantined": record.quarantined_count,
        "unchanged_nights": record.unchanged_nights,
        "compressed_by_sender": record.compressed_by_sender,
        "to_compact": _to_compact(services, record),
        "last_number": record.last_number,
        "max_backups_count": CountLimit(limits.versions),
        "max_one_version_size": SizeLimit(limits.version_size),
        "max_collection_size": SizeLimit(limits.total_size),
        "strategy": record.strategy,
        "strategy_options": record.strategy_options,
        "locked": format_duration(record.locked),
        "min_retention": format_duration(guards.min_retention),
        "min_version_size": Size(guards.min_version_size),
        "max_shrink_percent": guards.max_shrink_percent,
        "max_growth_percent": guards.max_growth_percent,
        "expects_kind": guards.expects_kind,
        "expects_change": guards.expects_change,
        "max_decline_percent": guards.max_decline_percent,
        "max_unchanged": format_duration(guards.max_unchanged),
        "on_suspicious": guards.action,
        "expected_every": Expected(record.expected_every),
        "grace": format_duration(record.grace) if record.grace else None,
        "due_at": Moment(record.due_at),
        "labels": Words(record.labels),
        "storage": record.storage,
        "mirror": record.mirror,
        "compact_group": record.compact_group,
        "trash_keep": None if record.trash_keep is None else format_duration(record.trash_keep),
        "password": "set" if record.password_hash else None,
        "created_at": Moment(record.created_at),
        "tokens": Words([token.fingerprint for token in tokens]),
        "token_names": Words([token.name for token in tokens if token.name]),
    }
    return tuple(fields), tuple(fields.values())


def _to_compact(services: "Services", record: "CollectionRecord") -> str | None:
    """Return what the sender of a compressed content has to change, so that the service can compact it."""
    if record.compressed_by_sender is None:
        return None
    line = cron_line(upload_url(record.id, address_of(services.settings))).partition(" root ")[2]
    return f"compressed by its sender, it cannot be compacted; send it with: {line}"


def check_limit(limit: int) -> int:
    """Return the number of rows. Raises `FieldsError` if it is too small or too large."""
    if not 1 <= limit <= MAX_LISTED:
        raise FieldsError({"--limit": [f"must be from 1 to {MAX_LISTED}"]})
    return limit


def _states(names: list[str]) -> "list[BackupState]":
    from frepo_core.services.backups.collections.states import BackupState

    known = {state.value: state for state in BackupState}
    if unknown := [name for name in names if name not in known]:
        raise FieldsError({"--state": [f"{unknown[0]!r} is not one of {', '.join(known)}"]})
    return [known[name] for name in names]


def _find(
    services: "Services", arguments: argparse.Namespace, limit: int
) -> "Iterator[tuple[CollectionRecord, VersionRecord | None, StateRecord]]":
    from frepo_core.services.backups.collections.collection_pages import CollectionFilter
    from frepo_core.services.base.keyset import PageRequest
    from frepo_core.services.events.actors import console_identity

    wanted = CollectionFilter(
        text=arguments.search, states=_states(arguments.state), unchanged_nights=arguments.unchanged
    )
    request = PageRequest(limit=min(limit, PAGE), sort="created_at", is_descending=True)
    if arguments.state:
        request = replace(request, sort="state", is_descending=False)
    while limit > 0:
        page = services.collection_pages.page(wanted, request, by=console_identity())
        yield from ((one.record, one.newest, one.state) for one in page.items[:limit])
        limit -= len(page.items)
        if page.next is None:
            break
        request = replace(request, after=page.next)
