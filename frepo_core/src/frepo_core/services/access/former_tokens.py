"""Finds what the events know about a token that was deleted: its name, its roles, and when and how it ended."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Event, Token
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity
from frepo_core.domain.signatures import FINGERPRINT_LENGTHS
from frepo_core.domain.signatures import fingerprint as fingerprint_of
from frepo_core.domain.structs import struct

_ENDS = {EventKind.TOKEN_REVOKED.value: "revoked", EventKind.TOKEN_EXPIRED.value: "expired"}
_KINDS = [EventKind.TOKEN_CREATED.value, EventKind.TOKEN_EDITED.value, *_ENDS]


@struct
class FormerToken:
    """A token that was deleted. `state` is `revoked`, `expired` or `used up`; `ended_by` and `created_by` are actors.

    Values are None if the events do not have them, because the token or its end is older than the events.
    """

    fingerprint: str
    state: str | None = None
    name: str | None = None
    roles: tuple[str, ...] = ()
    created_at: datetime | None = None
    created_by: str | None = None
    ended_at: datetime | None = None
    ended_by: str | None = None


def find_former(database: Database, fingerprint: str) -> FormerToken | None:
    """Return what the events say about a token, or None. The database reads all events about tokens."""
    query = select(Event).where(Event.kind.in_(_KINDS), Event.token == fingerprint.lower()).order_by(Event.id)
    values: dict[str, object] = {}
    with database.reading() as session:
        for row in session.scalars(query):
            values |= _values(row)
    return FormerToken(fingerprint=fingerprint.lower(), **values) if values else None  # type: ignore[arg-type]  # see `_values`


def find_ended(session: Session, keys: Sequence[str]) -> set[str]:
    """Return those of these keys of rows whose tokens have ended, as far as the events know."""
    by_fingerprint = {fingerprint_of(key, length): key for key in keys for length in FINGERPRINT_LENGTHS}
    query = select(Event.token).where(Event.kind.in_(_ENDS), Event.token.in_(by_fingerprint))
    return {by_fingerprint[one] for one in session.scalars(query) if one}


def find_expiry(session: Session, identity: Identity, *, lock: bool = False) -> Event | None:
    """Return the event about the end of a deleted token that had expired by time: neither revoked nor used up.

    With `lock`, the event is locked: of two uploads with a token for one upload, the second one waits, and then finds
    that the first one has used the token up.
    """
    query = select(Event).where(Event.kind.in_(_ENDS), Event.token == identity.fingerprint).order_by(Event.id.desc())
    last = session.scalar(query.limit(1))
    if last is None or last.kind != EventKind.TOKEN_EXPIRED.value or last.data.get("reason") != "time":
        return None
    if lock:
        session.scalar(select(Event.id).where(Event.id == last.id).with_for_update())
        return find_expiry(session, identity)
    return last


def is_revoked(session: Session, identity: Identity) -> bool:
    """Return whether a token, or the last one that has replaced it, was revoked or used up, and has not expired."""
    chain = or_(Token.key.in_([identity.token, identity.client]), Token.first_key == identity.client)
    if not identity.token or session.scalar(select(Token.key).where(chain).limit(1)) is not None:
        return False
    last = identity
    rotations = select(Event.data).where(Event.kind == EventKind.TOKEN_ROTATED.value).order_by(Event.id.desc()).limit(1)
    while (data := session.scalar(rotations.where(Event.token == last.fingerprint))) is not None:
        last = replace(last, fingerprint=data["replaced_by"])
    return find_expiry(session, last) is None


def _values(event: Event) -> dict[str, object]:
    """Return the fields of a `FormerToken` that an event knows."""
    if event.kind in _ENDS:
        found = {"name": event.data.get("name"), "roles": tuple(event.data["roles"])}
        is_used_up = event.data.get("reason") == "single upload"
        state = "used up" if is_used_up else _ENDS[event.kind]
        return {**found, "state": state, "ended_at": event.at, "ended_by": event.actor}
    after = event.data["after"]
    found = {name: after[name] for name in ("name",) if name in after}
    if "roles" in after:
        found["roles"] = tuple(after["roles"])
    if event.kind == EventKind.TOKEN_CREATED.value:
        found |= {"created_at": event.at, "created_by": event.actor}
    return found
