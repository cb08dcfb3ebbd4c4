"""The command that shows events."""

import argparse
import contextlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cliff.columns import FormattableColumn

from frepo_core.domain.durations import parse_duration
from frepo_core.domain.identity import parse_uuid4
from frepo_core.errors import FieldsError

from ...tables import ListCommand

if TYPE_CHECKING:
    from frepo_core.plugins import Event
    from frepo_core.services.composition.container import Services
    from frepo_core.services.events.search import EventSearch

COLUMNS = ("Position", "Time", "Kind", "Actor", "Address", "Collection", "Version", "File", "Token", "Data")
# Seconds between two looks for new events.
PAUSE = 1.0
PAGE = 500
_ACTOR = re.compile("[0-9a-f]{12,16}|(console|system):.+|anonymous")


class Data(FormattableColumn[Mapping[str, Any]]):
    """The data of an event: an object in JSON and YAML; in a table JSON in one line, and of an edit what it changed."""

    def human_readable(self) -> str:
        """Format the data."""
        shown = _shown(self._value)
        before, after = shown.get("before"), shown.get("after")
        if not (isinstance(before, dict) and isinstance(after, dict)):
            return _json(shown)
        return ", ".join(f"{name}: {_json(old)} -> {_json(after.get(name))}" for name, old in before.items())


class Events(ListCommand):
    """Show what has happened, newest first. A new event appears when the worker has numbered it, within seconds."""

    long = frozenset({"Position", "Address", "Collection", "File", "Token"})
    examples = ("frepo events --kind 'version.*' --since 7d",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--kind",
            action="append",
            default=[],
            metavar="PATTERN",
            help="e.g. version.refused or 'version.*'; may be repeated",
        )
        parser.add_argument("--collection", help="only events about this collection, given by its id or its name")
        parser.add_argument("--actor", help="a token's fingerprint, console:<user>, system:<job> or anonymous")
        parser.add_argument("--since", metavar="TIME", help="e.g. 7d, or 2030-01-31T12:00 (UTC)")
        parser.add_argument("--limit", type=int, default=50, metavar="N", help="the number of events; default: 50")
        parser.add_argument(
            "--follow",
            action="store_true",
            help="show the last events, oldest first, then new ones as they come; -f json: one object in a line",
        )
        parser.add_argument(
            "--export",
            choices=("csv", "jsonl"),
            help="print all events that match, however many, as CSV or as JSON lines",
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Show the events; with `--follow` until Ctrl-C."""
        if arguments.export:
            self._export(arguments)
            return 0
        if not arguments.follow:
            return int(super().run(arguments))
        with contextlib.suppress(KeyboardInterrupt):
            services = self.services()
            self._follow(services, _search(services, arguments), arguments)
        return 0

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        from frepo_core.services.events.search import newest_events

        services = self.services()
        found = newest_events(services.database, _search(services, arguments), limit=_limit(arguments))
        return COLUMNS, [_row(event) for event in found]

    def _export(self, arguments: argparse.Namespace) -> None:
        from frepo_core.services.reports.audit import FORMATS

        services = self.services()
        events = services.audit.export(_search(services, arguments), by=None)
        for line in FORMATS[arguments.export](events):
            self.app.stdout.write(line.decode())

    def _follow(self, services: "Services", search: "EventSearch", arguments: argparse.Namespace) -> None:
        from frepo_core.services.events.search import newest_events, next_events

        found = newest_events(services.database, search, limit=_limit(arguments))[::-1]
        last = 0
        while True:
            for event in found:
                self.say(_line(event, is_json=arguments.formatter == "json"))
                last = event.position
            self.app.stdout.flush()
            if len(found) < PAGE:
                time.sleep(PAUSE)
            found = next_events(services.database, search, limit=PAGE, after=last)


def _shown(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data with each edited value once."""
    from frepo_core.plugins import without_old_keys

    return {name: without_old_keys(value) if isinstance(value, dict) else value for name, value in data.items()}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _search(services: "Services", arguments: argparse.Namespace) -> "EventSearch":
    from frepo_core.services.events.queries import matching_kinds
    from frepo_core.services.events.search import EventSearch

    of_plugins = tuple(services.plugins.event_kinds)
    if unknown := [pattern for pattern in arguments.kind if not matching_kinds([pattern], of_plugins)]:
        raise FieldsError({"--kind": [f"{unknown[0]!r} matches no kind of event; docs/events.md lists them"]})
    return EventSearch(
        kinds=arguments.kind,
        of_plugins=of_plugins,
        collection_id=_collection_id(services, arguments.collection),
        actor=_actor(arguments.actor),
        since=_since(arguments.since),
    )


def _collection_id(services: "Services", text: str | None) -> str | None:
    """Return the id of a collection, given by its id or name. An id may be that of a collection that was deleted."""
    if text is None or parse_uuid4(text.lower()) is not None:
        return text and text.lower()
    return services.collections.find(text).id


def _actor(text: str | None) -> str | None:
    if text is not None and not _ACTOR.fullmatch(text):
        expected = "the fingerprint of a token, console:<user>, system:<job> or anonymous"
        raise FieldsError({"--actor": [f"{text!r} is not {expected}"]})
    return text


def _since(text: str | None) -> datetime | None:
    if text is None:
        return None
    with contextlib.suppress(ValueError):
        return datetime.now(UTC) - parse_duration(text)
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise FieldsError({"--since": [f"{text!r} is neither a length of time such as 7d nor a time"]}) from None
    return given if given.tzinfo else given.replace(tzinfo=UTC)


def _limit(arguments: argparse.Namespace) -> int:
    if not 1 <= arguments.limit <= 100_000:
        raise FieldsError({"--limit": ["must be from 1 to 100000"]})
    return int(arguments.limit)


def _row(event: "Event") -> tuple[Any, ...]:
    at = event.at.isoformat(timespec="seconds").replace("+00:00", "Z")
    about: Sequence[Any] = (event.collection_id, event.version_number, event.file_id, event.token)
    return event.position, at, event.kind, event.actor, event.address, *about, Data(event.data)


def _line(event: "Event", *, is_json: bool) -> str:
    values = dict(zip(COLUMNS, _row(event), strict=True)) | {"Data": event.data}
    if is_json:
        return json.dumps(values, ensure_ascii=False)
    shown = [values["Time"], event.kind, event.actor, event.address]
    about = [f"{name.lower()} {values[name]}" for name in ("Collection", "Version", "File", "Token") if values[name]]
    return " ".join([str(one) for one in shown if one] + about + [_json(_shown(event.data))])
