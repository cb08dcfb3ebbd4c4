"""Promise 9, checked by replaying all events: they lead to exactly the rows that the database has (I9).

A row that no event explains is a fact without its event. A row that the events promise, and that is not there, is an
event without its fact. Rows that are older than the first event, in a database that was upgraded, need no event.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import (
    Collection,
    CollectionToken,
    Content,
    Event,
    File,
    StoredObject,
    Token,
    TrashEntry,
    Version,
)
from frepo_core.plugins.subscriber import OLD_KEYS
from frepo_core.services.base.change_log import collection_values
from frepo_core.services.base.records import CollectionRecord
from frepo_core.services.composition.container import Services

NAMES = ("collection", "version", "trash", "pin", "quarantine", "file", "token", "access", "damage", "full")
Rows = dict[str, dict[Any, Any]]


@dataclass
class Replay:
    """What there is after some events, by kind of object and by key."""

    rows: Rows = field(default_factory=lambda: {name: {} for name in NAMES})
    gone: dict[str, set[Any]] = field(default_factory=lambda: {name: set() for name in NAMES})

    def add(self, name: str, key: Any, value: Any = True) -> None:
        assert key not in self.rows[name], f"I9: events say twice that the {name} {key} is new"
        self.rows[name][key] = value
        self.gone[name].discard(key)

    def remove(self, name: str, key: Any) -> None:
        assert key not in self.gone[name], f"I9: events say twice that the {name} {key} is gone"
        self.rows[name].pop(key, None)  # it may be older than all events
        self.gone[name].add(key)

    def forget(self, name: str, is_gone: Callable[[Any, Any], bool]) -> None:
        """Remove what disappears together with something else."""
        self.rows[name] = {key: value for key, value in self.rows[name].items() if not is_gone(key, value)}

    def edit(self, name: str, key: Any, before: dict[str, Any], after: dict[str, Any]) -> None:
        if (value := self.rows[name].get(key)) is None:
            return
        shared = value.keys() & before.keys()
        assert {name: before[name] for name in shared} == {name: value[name] for name in shared}, "I9: a lost edit"
        self.rows[name][key] = value | {name: after[name] for name in shared}


def check_events(services: Services) -> None:
    """Compare the rows with the replay of all events."""
    with services.database.reading(is_snapshot=True) as session:
        events = session.scalars(select(Event).order_by(Event.id)).all()
        if not events:
            return
        found, made = _found(session)
        keys = set(session.scalars(select(StoredObject.key).where(StoredObject.slot == 1)))
    replay = Replay()
    for event in events:
        _apply(replay, event)
    replay.forget("damage", lambda key, _: key not in keys)  # deleting a damaged blob is no event
    for name in NAMES:
        expected, there = replay.rows[name], found[name]
        lost = {key: (value, there.get(key)) for key, value in expected.items() if there.get(key) != value}
        assert not lost, f"I9: {name}: events without their facts, or with others: {lost}"
        still_there = replay.gone[name] & there.keys()
        assert not still_there, f"I9: {name}: events say that they are gone: {still_there}"
        untold = [key for key in there.keys() - expected.keys() if made[name][key] > events[0].at]
        assert not untold, f"I9: {name}: facts without their events: {untold}"


def _apply(replay: Replay, event: Event) -> None:
    collection, data = event.collection_id, event.data
    version = (collection, event.version_number)
    match event.kind:
        case "collection.created":
            replay.add("collection", collection, _old_values(data["after"]))
        case "collection.restored":
            replay.add("collection", collection, _old_values(data["after"]))
        case "collection.edited":
            replay.edit("collection", collection, _old_values(data["before"]), _old_values(data["after"]))
        case "collection.deleted":
            replay.remove("collection", collection)
            replay.forget("full", lambda key, _: key == collection)
            replay.forget("access", lambda key, _: key[0] == collection)
        case "collection.access_granted":
            replay.add("access", (collection, event.token))
        case "collection.access_revoked":
            replay.remove("access", (collection, event.token))
        case "collection.full":
            replay.add("full", collection)
        case "version.added":
            replay.add("version", version, data["sha256"])
            replay.forget("full", lambda key, _: key == collection)
        case "version.quarantined":
            replay.add("version", version, data["sha256"])
            replay.add("quarantine", version)
        case "version.released":
            replay.remove("quarantine", version)
            replay.forget("full", lambda key, _: key == collection)
        case "version.pinned":
            replay.add("pin", version)
        case "version.unpinned":
            replay.remove("pin", version)
        case "version.restored":
            replay.add("version", version, data["sha256"])
            replay.remove("trash", version)
        case "trash.ended":
            replay.remove("trash", version)
        case "version.evicted" | "version.deleted":
            assert version not in replay.rows["pin"], f"I10: events say that the pinned version {version} is gone"
            replay.remove("version", version)
            if "ends_at" in data:
                replay.add("trash", version, data["sha256"])
            replay.forget("quarantine", lambda key, _: key == version)
        case "file.added":
            replay.add("file", event.file_id, {"tags": sorted(data["tags"]), "public": data["public"]})
        case "file.edited":
            replay.edit("file", event.file_id, _sorted_tags(data["before"]), _sorted_tags(data["after"]))
        case "file.deleted":
            replay.remove("file", event.file_id)
        case "token.created":
            replay.add("token", event.token, data["after"]["roles"])
        case "token.revoked" | "token.expired":
            replay.remove("token", event.token)
            replay.forget("access", lambda key, _: key[1] == event.token)
        case "blob.damaged":
            replay.add("damage", data["key"], data["sha256"])
        case "blob.healed":
            replay.forget("damage", lambda _, digest: digest == data["sha256"])


def _old_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values without the names that events did not have at first: a database may be older than those."""
    return {name: value for name, value in values.items() if name not in OLD_KEYS.values()}


def _sorted_tags(values: dict[str, Any]) -> dict[str, Any]:
    return values | ({"tags": sorted(values["tags"])} if "tags" in values else {})


def _found(session: Session) -> tuple[Rows, dict[str, dict[Any, datetime]]]:
    """Return the rows in the form of a replay, and when each was made."""
    versions = select(Version.collection_id, Version.number, Content.digest, Version.created_at)
    access = select(CollectionToken.collection_id, Token.fingerprint, Collection.created_at, Token.created_at)
    with_both = access.join(Collection, Collection.id == CollectionToken.collection_id).join(
        Token, Token.key == CollectionToken.token_key
    )
    files = session.scalars(select(File).where(File.kind == "plain")).all()
    tokens = session.execute(select(Token.fingerprint, Token.roles, Token.created_at)).all()
    collections = session.scalars(select(Collection)).all()
    marked = session.execute(
        select(Version.collection_id, Version.number, Version.created_at, Version.pinned, Version.quarantined_at)
    ).all()
    triples = {
        "collection": [
            (row.id, _old_values(collection_values(CollectionRecord.of(row))), row.created_at) for row in collections
        ],
        "version": [
            ((collection, number), digest, at)
            for collection, number, digest, at in session.execute(versions.join(Version.file).join(File.blob))
        ],
        "trash": [
            ((row.collection_id, row.number), row.digest, row.evicted_at) for row in session.scalars(select(TrashEntry))
        ],
        "pin": [((row.collection_id, row.number), True, row.created_at) for row in marked if row.pinned],
        "quarantine": [((row.collection_id, row.number), True, row.created_at) for row in marked if row.quarantined_at],
        "file": [
            (row.id, {"tags": sorted(tag.name for tag in row.tags), "public": row.public}, row.created_at)
            for row in files
        ],
        "token": [(fingerprint, roles, at) for fingerprint, roles, at in tokens],
        "access": [
            ((collection, fingerprint), True, min(first, second))
            for collection, fingerprint, first, second in session.execute(with_both)
        ],
        "damage": [
            (row.key, row.digest, row.since)
            for row in session.scalars(
                select(StoredObject).where(StoredObject.state.in_(["damaged", "missing"]), StoredObject.slot == 1)
            )
        ],
        "full": [(row.id, True, row.full_since) for row in collections if row.full_since],
    }
    return (
        {name: {key: value for key, value, _ in rows} for name, rows in triples.items()},
        {name: {key: at for key, _, at in rows} for name, rows in triples.items()},
    )
