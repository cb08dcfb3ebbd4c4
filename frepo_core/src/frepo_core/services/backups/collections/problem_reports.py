"""Problems of collections that plug-ins report, next to those that the service finds itself."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Collection as Group
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor, By

from ...events.recording import NewEvent, record

# How many problems one plug-in can report for a collection at the same time, and how long a message can be.
MOST, LONGEST = 20, 300
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_NAME = re.compile("[a-z][a-z0-9_]{0,63}")


def messages_of(row: Collection) -> Iterator[str]:
    """Yield the messages of the problems that plug-ins report, the oldest first."""
    found = [one for problems in (row.problems or {}).values() for one in problems.values()]
    yield from (one["message"].rstrip(".") for one in sorted(found, key=lambda one: one["since"]))


def oldest_problems(session: Session, limit: int) -> Sequence[Collection]:
    """Return the collections with problems, the oldest ones first. An index finds them among many others."""
    query = select(Collection).where(Collection.problem_since > _LONG_AGO).order_by(Collection.problem_since)
    return session.scalars(query.limit(limit)).all()


def report_problem(
    database: Database, collection_id: str, plugin: str, name: str, message: str | None, *, by: Actor
) -> bool:
    """Note a problem of a collection, or its end if the message is None; return whether that is news.

    Nothing is written if it is known. Raises `ValueError` for an invalid name or message, and for too many problems.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r:.100} cannot be the name of a problem: use small letters, digits and underscores")
    if message is not None and not 1 <= len(message) <= LONGEST:
        raise ValueError(f"The message of a problem has 1 to {LONGEST} characters, and this one has {len(message)}")
    with database.reading() as session:
        row = session.get(Collection, collection_id)
        if row is None or message == _message(row, plugin, name):
            return False

    def work(session: Session) -> bool:
        row = session.get(Collection, collection_id, with_for_update=True)
        return row is not None and _change(session, row, plugin, name, message, by=by)

    return database.write(work)


def _message(row: Collection, plugin: str, name: str) -> str | None:
    found: str | None = (row.problems or {}).get(plugin, {}).get(name, {}).get("message")
    return found


def _change(session: Session, row: Collection, plugin: str, name: str, message: str | None, *, by: By) -> bool:
    """Note a problem of a locked collection, or its end; return whether it began or ended, which is an event."""
    others = dict(row.problems or {})
    own = dict(others.pop(plugin, {}))
    known = own.pop(name, None)
    if message == (known and known["message"]):
        return False
    if message is not None:
        if known is None and len(own) >= MOST:
            raise ValueError(f"A plug-in can report at most {MOST} problems of a collection at once. End one first")
        own[name] = {"message": message, "since": known["since"] if known else utc_now().isoformat()}
    _keep(row, others | ({plugin: own} if own else {}))
    if known is None or message is None:
        _record(session, row.id, plugin, name, message, known, by=by)
        return True
    return False


def end_problems_of_others(
    database: Database, plugins: Group[str], *, by: Actor, keep_going: Callable[[], None]
) -> int:
    """End the problems that plug-ins have reported which are not among these; return their number."""
    with database.reading() as session:
        query = select(Collection.id, Collection.problems).where(Collection.problem_since.is_not(None))
        concerned = [row.id for row in session.execute(query) if row.problems.keys() - set(plugins)]

    def end(session: Session, collection_id: str) -> int:
        row = session.get(Collection, collection_id, with_for_update=True)
        gone = [
            (plugin, name)
            for plugin, problems in ((row and row.problems) or {}).items()
            if plugin not in plugins
            for name in problems
        ]
        return sum(_change(session, row, plugin, name, None, by=by) for plugin, name in gone) if row else 0

    ended = 0
    for collection_id in concerned:
        keep_going()
        ended += database.write(partial(end, collection_id=collection_id))
    return ended


def _keep(row: Collection, problems: Mapping[str, Mapping[str, Any]]) -> None:
    row.problems = dict(problems) or None
    times = [datetime.fromisoformat(one["since"]) for own in problems.values() for one in own.values()]
    row.problem_since = min(times, default=None)


def _record(
    session: Session,
    collection_id: str,
    plugin: str,
    name: str,
    message: str | None,
    known: Mapping[str, Any] | None,
    *,
    by: By,
) -> None:
    kind, about = EventKind.COLLECTION_PROBLEM, {"message": message}
    if message is None and known is not None:
        kind, about = EventKind.COLLECTION_PROBLEM_ENDED, dict(known)
    data = {"plugin": plugin, "name": name, **about}
    record(session, NewEvent(kind=kind, by=by, collection_id=collection_id, data=data))
