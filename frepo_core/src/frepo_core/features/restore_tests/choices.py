"""How collections are restore-tested: the engine, and what a restored copy must have."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, RestoreChoice, Version, VersionCheck
from frepo_core.domain.backups.verdicts import RESTORE
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import allows
from frepo_core.errors import AccessDeniedError, FieldsError
from frepo_core.services.backups.rows.collection_rows import INCARNATION, find_collection
from frepo_core.services.backups.rows.removal import incarnation_of
from frepo_core.services.base.records import CollectionRecord
from frepo_core.services.events.facts import collection_event
from frepo_core.services.events.recording import record

from .assertions import Assertion
from .engine_names import EngineNames

MAX_ASSERTIONS = 50
# The key of events about a choice, by which the journal finds it.
NAMED_BY = "restore_choice"
NEEDS_DOWNLOAD = (
    "The token may not set assertions: a query reads data, so the role to read the versions of the collection is needed"
)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a collection has chosen; `engine` is None for the engine of its labels or the command.

    `unreadable` are the names of assertions whose values cannot be read, as after a recovery from an odd journal.
    """

    engine: str | None = None
    assertions: Mapping[str, Assertion] = field(default_factory=dict)
    filled: list[str] | None = None
    unreadable: Sequence[str] = ()


class LastOutcome(NamedTuple):
    """The result of a collection's last restore test."""

    outcome: str
    message: str
    at: datetime
    version: int


class RestoreChoices:
    """Reads and sets what collections choose."""

    def __init__(self, database: Database, names: EngineNames) -> None:
        self._database = database
        self._names = names

    def of(self, collection_id: str) -> Choice:
        """Return what a collection has chosen."""
        with self._database.reading() as session:
            query = select(RestoreChoice).join(Collection, INCARNATION == RestoreChoice.incarnation)
            return _choice(session.scalar(query.where(Collection.id == collection_id)))

    def all(self, session: Session) -> Mapping[str, Choice]:
        """Return what collections have chosen, by their ids."""
        query = select(Collection.id, RestoreChoice).join(Collection, INCARNATION == RestoreChoice.incarnation)
        return {row[0]: _choice(row[1]) for row in session.execute(query)}

    def last_outcome(self, collection_id: str) -> LastOutcome | None:
        """Return what the last restore test of a collection has found; None without one."""
        query = select(VersionCheck.outcome, VersionCheck.message, VersionCheck.at, Version.number).join(Version)
        query = query.where(Version.collection_id == collection_id, VersionCheck.name == RESTORE)
        rows = self._database.fetch_rows(query.order_by(VersionCheck.at.desc()).limit(1))
        return LastOutcome._make(rows[0]) if rows else None

    def engine_of(self, collection: CollectionRecord, choice: Choice) -> str | None:
        """Return the name of the engine of a collection: its own, or that of a label."""
        return self._names.of(choice.engine, collection.labels)

    def set(
        self, collection: CollectionRecord, choice: Choice, *, by: Identity | None, is_listed: bool = True
    ) -> Choice:
        """Replace what a collection has chosen. None is `frepo`, with all rights. The tables with rows are forgotten.

        Raises `FieldsError`, and `AccessDeniedError` for assertions of a token that may not read the versions.
        """
        return self.edit(collection, lambda _: choice, by=by, is_listed=is_listed)

    def edit(
        self,
        collection: CollectionRecord,
        change: Callable[[Choice], Choice],
        *,
        by: Identity | None,
        is_listed: bool = True,
    ) -> Choice:
        """Set what `change` makes of what a collection has chosen, while nobody else can change that. Raises as `set`.

        `change` may be called more than once.
        """

        def work(session: Session) -> Choice:
            row = _row(session, find_collection(session, collection.id, lock=True))
            current = _choice(row)
            choice = change(current)
            changes = choice.assertions != current.assertions or current.unreadable
            if by is not None and changes and not allows("version.list", by, listed=is_listed):
                raise AccessDeniedError(NEEDS_DOWNLOAD)
            self.check(choice, collection.labels)
            row.engine, row.assertions, row.filled = choice.engine, _dump(choice), None
            told: dict[str, Any] = {"before": _told(current), "after": _told(choice), NAMED_BY: row.incarnation}
            record(session, collection_event(EventKind.COLLECTION_EDITED, collection.id, by=by, **told))
            return choice

        return self._database.write(work)

    def check(self, choice: Choice, labels: Sequence[str]) -> None:
        """Raise `FieldsError` if a collection with these labels cannot choose this."""
        if choice.engine is not None:
            self._names.check(choice.engine)
        if not choice.assertions:
            return
        if len(choice.assertions) > MAX_ASSERTIONS:
            raise FieldsError({"assertions": [f"At most {MAX_ASSERTIONS} are possible"]}, FieldsError.FORM)
        engine = self._names.of(choice.engine, labels)
        if engine is None:
            raise FieldsError({"engine": ["Assertions need an engine: choose one"]}, FieldsError.FORM)
        if not self._names.language(engine):
            text = f"The engine {engine} answers no questions, so it has no assertions"
            raise FieldsError({"assertions": [text]}, FieldsError.FORM)

    @staticmethod
    def remember(session: Session, collection_id: str, tables: Mapping[str, bool]) -> None:
        """Note which tables have rows, in the transaction of a good result."""
        row = _row(session, find_collection(session, collection_id))
        row.filled = [name for name, is_filled in tables.items() if is_filled]


def _row(session: Session, collection: Collection) -> RestoreChoice:
    """Return the row of a collection, a new one if it has none."""
    incarnation = incarnation_of(collection)
    row = session.get(RestoreChoice, incarnation)
    if row is None:
        row = RestoreChoice(incarnation=incarnation, engine=None, assertions={})
        session.add(row)
    return row


def _choice(row: RestoreChoice | None) -> Choice:
    if row is None:
        return Choice()
    loaded = {name: Assertion.load(values) for name, values in row.assertions.items()}
    assertions = {name: one for name, one in loaded.items() if one is not None}
    unreadable = tuple(sorted(loaded.keys() - assertions.keys()))
    return Choice(engine=row.engine, assertions=assertions, filled=row.filled, unreadable=unreadable)


def _dump(choice: Choice) -> dict[str, Any]:
    return {name: one.dump() for name, one in choice.assertions.items()}


def _told(choice: Choice) -> dict[str, Any]:
    """Return what the event says. Assertions are named only: who reads events need not see what is asked."""
    return {"restore_engine": choice.engine, "restore_assertions": sorted(choice.assertions)}
