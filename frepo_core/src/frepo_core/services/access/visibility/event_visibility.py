"""Decides which events a token may see: of files what /files shows, of tokens what /tokens shows, of jobs no output."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, CollectionToken
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import allows
from frepo_core.domain.structs import struct

from ...events.search import SHARED, EventRecord, EventSearch
from ..token_rows import visible_fingerprints
from .job_output import HIDDEN_OUTPUT, sees_output
from .visible_files import Sight, see_files, sees_all_files

# What a masked file, or bytes of one, show of an event's data.
_SHOWN_OF_MASKED = ("size", "type", "storage", "used_by_count", "problem")
_MASKED = {"name": "anonymous", "sha256": ""}


@struct
class _View:
    """What a token may see of the objects of some events. `tokens` are fingerprints."""

    by: Identity
    files: Mapping[int, Sight]
    tokens: frozenset[str]


class Visibility:
    """Restricts searches for events, and what was found, to what a token may see. None, `frepo`, sees all."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def restrict(self, search: EventSearch, by: Identity | None) -> EventSearch:
        """Return the search, restricted to the collections that the token may see."""
        if by is None or allows("collection.fetch", by):
            return search
        query = select(Collection.id, Collection.created_at).join(CollectionToken)
        query = query.where(CollectionToken.token_key == by.token).order_by(Collection.id)
        with self._database.reading() as session:
            return replace(search, visible={row.id: row.created_at for row in session.execute(query)})

    def show(self, events: Sequence[EventRecord], by: Identity | None) -> list[EventRecord]:
        """Return those of the events that the token may see, with what it may not see masked.

        The events must be those of a search that `restrict` returned.
        """
        if by is None or not events or _sees_all(by):
            return list(events)
        with self._database.reading() as session:
            view = _view(session, events, by)
        return [_mask(event, view) for event in events if _is_shown(event, view)]


def _sees_all(by: Identity) -> bool:
    actions = ("collection.fetch", "token.list", "aliases.manage")
    return sees_all_files(by) and all(allows(action, by) for action in actions)


def _view(session: Session, events: Sequence[EventRecord], by: Identity) -> _View:
    files = {event.file_id for event in events if event.file_id is not None and event.collection_id is None}
    tokens = {name for event in events for name in (event.token, event.actor) if name and name != by.fingerprint}
    seen = visible_fingerprints(session, tokens, by) | {by.fingerprint}
    return _View(by=by, files=see_files(session, files, by), tokens=frozenset(seen))


def _is_shown(event: EventRecord, view: _View) -> bool:
    if event.collection_id is not None:
        return True
    if event.token is not None:
        return event.token == view.by.fingerprint or (allows("token.list", view.by) and event.token in view.tokens)
    if event.file_id is not None:
        return view.files.get(event.file_id) is not Sight.NOTHING
    return not event.kind.startswith("alias.") or allows("aliases.manage", view.by)


def _mask(event: EventRecord, view: _View) -> EventRecord:
    changes: dict[str, Any] = {}
    if event.token is not None and event.token not in view.tokens:
        changes["token"] = None
    if _is_fingerprint(event.actor) and event.actor not in view.tokens:
        changes |= {"actor_name": None, "address": None}
    if event.kind == EventKind.JOB_FAILED and not sees_output(view.by):
        changes["data"] = {**event.data, "error": HIDDEN_OUTPUT}
    elif event.kind == EventKind.MESSAGE_SENT and event.collection_id is None and not sees_output(view.by):
        changes["data"] = {**event.data, "title": HIDDEN_OUTPUT, "body": ""}
    elif _is_of_masked_file(event, view):
        shown = {name: event.data[name] for name in _SHOWN_OF_MASKED if name in event.data}
        changes["data"] = {**{name: text for name, text in _MASKED.items() if name in event.data}, **shown}
    return replace(event, **changes) if changes else event


def _is_of_masked_file(event: EventRecord, view: _View) -> bool:
    """Return whether the event is about a file that is masked, or about bytes that such a file may use."""
    if event.collection_id is not None:
        return False
    if event.file_id is not None:
        default = Sight.FULL if sees_all_files(view.by) else Sight.MASKED  # a deleted file
        return view.files.get(event.file_id, default) is not Sight.FULL
    return event.kind in SHARED and not sees_all_files(view.by)


def _is_fingerprint(actor: str) -> bool:
    return ":" not in actor and actor != "anonymous"
