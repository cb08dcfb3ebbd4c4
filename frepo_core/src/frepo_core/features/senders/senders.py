"""Looks at who has sent to each collection, and warns once of what is odd.

Each upload notes its program and host with what the service keeps of its client anyway. The job compares them later, so
that no upload waits for it.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, CollectionSender, Token
from frepo_core.domain.backups.senders import KNOWN_FOR, NEWS, find_in_turn, find_new, times_of
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor, Identity
from frepo_core.domain.structs import struct
from frepo_core.services.backups.rows.collection_rows import INCARNATION
from frepo_core.services.backups.rows.collection_search import visible_to
from frepo_core.services.base.plugin_values import PluginValues
from frepo_core.services.events.recording import NewEvent, record

OWNER, PREFIX = "frepo", "senders/"
MOST = 1000
_BY = Actor(name="system:senders")
_WHAT = ("program", "host")


@struct
class Warned:
    """A warning: its sentence, when it was given (UTC), and the collections that it is about, by id."""

    message: str
    at: datetime
    collections: Sequence[str]


@struct
class Finding:
    """What is odd: the kind of its event, whom it is about, and the data of the event but the message."""

    kind: EventKind
    subject: str
    data: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Under which it is remembered."""
        what = [value for name, value in sorted(self.data.items()) if name != "before"]
        parts = "\0".join([self.kind, self.subject, repr(what)])
        return f"{PREFIX}{hashlib.sha256(parts.encode()).hexdigest()[:32]}"


class Senders:
    """Compares who sends now with who has sent before."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def warnings(self, now: datetime, *, by: Identity | None = None) -> Sequence[Warned]:
        """Return the warnings of these days, the newest first. `by` is None for `frepo`, which sees all."""
        with self._database.reading() as session:
            kept = [_warned(one.value) for one in PluginValues(session, OWNER).items(PREFIX, limit=MOST)]
            found = [one for one in kept if one.at >= now - NEWS]
            if found and by is not None:
                ids = {each for one in found for each in one.collections}
                seen = set(session.scalars(select(Collection.id).where(Collection.id.in_(ids), *visible_to(by))))
                found = [one for one in found if seen.issuperset(one.collections)]
        return sorted(found, key=lambda one: one.at, reverse=True)

    def check(self, now: datetime, *, keep_going: Callable[[], None]) -> int:
        """Write an event for each finding that was not warned of, and return their number. Old warnings are deleted."""
        with self._database.reading() as session:
            known = {one.key: _warned(one.value) for one in PluginValues(session, OWNER).items(PREFIX, limit=MOST)}
            findings = [one for one in _find(session, now) if one.key not in known][: MOST - len(known)]
        number = 0
        for finding in findings:
            keep_going()
            number += self._database.write(partial(_warn, finding=finding, now=now))
        if old := [key for key, one in known.items() if one.at < now - KNOWN_FOR - NEWS]:
            self._database.write(partial(_forget, keys=old))
        return number


def _find(session: Session, now: datetime) -> Iterator[Finding]:
    sender, today = CollectionSender, now.date()
    query = select(sender.incarnation, sender.client, sender.seen)
    of_collection: defaultdict[str, list[Any]] = defaultdict(list)
    of_client: defaultdict[str, list[Any]] = defaultdict(list)
    for row in session.execute(query.where(sender.noted_at >= now - KNOWN_FOR, sender.seen.is_not(None))):
        of_collection[row.incarnation] += row.seen
        of_client[row.client] += row.seen
    shared = set()
    for client, entries in of_client.items():
        if hosts := find_in_turn(times_of(entries, 1), today):
            shared.add(tuple(hosts))
            yield Finding(kind=EventKind.TOKEN_SHARED, subject=client, data={"hosts": hosts})
    for incarnation, entries in of_collection.items():
        for position, what in enumerate(_WHAT):
            for after, before in find_new(times_of(entries, position), today):
                data = {"what": what, "before": before, "after": after}
                yield Finding(kind=EventKind.COLLECTION_SENDER_CHANGED, subject=incarnation, data=data)
        hosts = find_in_turn(times_of(entries, 1), today)
        if hosts and tuple(hosts) not in shared:
            yield Finding(kind=EventKind.COLLECTION_SENDERS_IN_TURN, subject=incarnation, data={"hosts": hosts})


def _warn(session: Session, *, finding: Finding, now: datetime) -> bool:
    """Write the event, and remember it; return whether whom it is about still exists."""
    if finding.kind is EventKind.TOKEN_SHARED:
        is_it = or_(Token.key == finding.subject, Token.first_key == finding.subject)
        token = session.scalar(select(Token).where(is_it).order_by(Token.created_at.desc()).limit(1))
        if token is None:
            return False
        name = f"{token.name} ({token.fingerprint})" if token.name else token.fingerprint
        message = f"The token {name} is used by {_listed(finding.data['hosts'])} in turn"
        sent = select(CollectionSender.incarnation).where(CollectionSender.client == finding.subject)
        collections = list(session.scalars(select(Collection.id).where(INCARNATION.in_(sent))))
        about: dict[str, Any] = {"token": token.fingerprint}
    else:
        row = session.scalar(select(Collection).where(INCARNATION == finding.subject))
        if row is None:
            return False
        message, collections, about = _sentence(row.filename, finding), [row.id], {"collection_id": row.id}
    record(session, NewEvent(kind=finding.kind, by=_BY, data={**finding.data, "message": message}, **about))
    warned = Warned(message=message, at=now, collections=collections)
    PluginValues(session, OWNER).put(finding.key, asdict(warned) | {"at": now.isoformat()})
    return True


def _sentence(name: str, finding: Finding) -> str:
    data = finding.data
    if finding.kind is EventKind.COLLECTION_SENDERS_IN_TURN:
        return f"The collection {name} gets versions from {_listed(data['hosts'])} in turn"
    return f"The collection {name} gets versions from the {data['what']} {data['after']}, before from {data['before']}"


def _listed(hosts: Sequence[str]) -> str:
    return f"{', '.join(hosts[:-1])} and {hosts[-1]}"


def _forget(session: Session, *, keys: Sequence[str]) -> None:
    for key in keys:
        PluginValues(session, OWNER).delete(key)


def _warned(value: Mapping[str, Any]) -> Warned:
    return Warned(**{**value, "at": datetime.fromisoformat(value["at"])})
