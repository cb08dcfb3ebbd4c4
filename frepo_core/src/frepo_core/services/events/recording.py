"""Records events. Each is inserted in the transaction of its fact, so that neither is committed without the other."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, String, insert, literal, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.json_expressions import json_object
from frepo_core.db.models import Collection, Event
from frepo_core.db.row_inserts import insert_of, insert_rows
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By
from frepo_core.domain.structs import struct
from frepo_core.plugins import PluginEventKind

from .actors import actor_columns

_INSERT = insert_of(Event)
SENTENCE = "sentence"


@struct
class NewEvent:
    """An event to record: its kind, who caused it, and what it is about.

    `by` is None for `frepo`. `token` is the fingerprint of the token that the event is about. `data` must be JSON,
    with keys that `kind` lists. It must not contain the id of a token, a password or its hash, or a link.
    """

    kind: EventKind | PluginEventKind
    by: By
    collection_id: str | None = None
    version_number: int | None = None
    file_id: int | None = None
    token: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


def record(session: Session, *events: NewEvent) -> None:
    """Insert the events with one statement, in the session's transaction.

    Raises `ValueError` for a key in the data that the event's kind does not list.
    """
    if events:
        now = utc_now()
        session.flush()  # in the order of the changes: a statement on a table does not flush by itself
        actors = [actor_columns(event.by) for event in events]
        insert_rows(session, _INSERT, [_row(*each, now) for each in zip(events, actors, strict=True)])


def record_for_collections(
    session: Session, kind: EventKind, data: Mapping[str, ColumnElement[Any]], which: ColumnElement[bool], *, by: By
) -> None:
    """Insert an event for each collection of a condition with one statement, in which the database makes the data.

    The values of `data` are expressions of texts. For thousands of collections at once, this takes a quarter of the
    time of `record`. Raises `ValueError` for a key in the data that the event's kind does not list.
    """
    _check_keys(kind, data)
    actor = {name: literal(value, String()) for name, value in actor_columns(by).items()}
    columns = {
        "at": literal(utc_now(), Event.at.type),
        "kind": literal(kind.value),
        **actor,
        "collection_id": Collection.id,
        "data": json_object(data),
    }
    events = select(*columns.values()).where(which).order_by(Collection.id)
    session.execute(insert(Event).from_select(list(columns), events))


def event_row(event: NewEvent, at: datetime) -> dict[str, Any]:
    """Return the row of an event at a time (aware). Raises `ValueError` as `record`."""
    return _row(event, actor_columns(event.by), at)


def _row(event: NewEvent, actor: Mapping[str, str | None], at: datetime) -> dict[str, Any]:
    _check_keys(event.kind, event.data)
    return {
        "at": at,
        "kind": event.kind.value,
        **actor,
        "collection_id": event.collection_id,
        "version_number": event.version_number,
        "file_id": event.file_id,
        "token": event.token,
        "data": {**event.data, **_sentence(event.kind)},
    }


def _sentence(kind: EventKind | PluginEventKind) -> dict[str, str]:
    """Return what readers need to know about a kind of a plug-in, which may be uninstalled by then."""
    return {SENTENCE: kind.sentence} if isinstance(kind, PluginEventKind) else {}


def _check_keys(kind: EventKind | PluginEventKind, data: Mapping[str, Any]) -> None:
    if unknown := data.keys() - set(kind.keys):
        raise ValueError(f"{kind} has no data with the key {min(unknown)!r}; its declaration lists the keys")
