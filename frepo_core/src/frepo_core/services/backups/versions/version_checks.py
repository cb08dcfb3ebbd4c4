"""Results of checks of versions: whether a backup is whole, as the upload checks and jobs of plug-ins found."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session, joinedload, undefer

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, Content, File, Version, VersionCheck
from frepo_core.db.row_inserts import insert_of, insert_rows
from frepo_core.domain.backups.verdicts import RESTORE
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By, describe_actor
from frepo_core.domain.structs import struct
from frepo_core.plugins import PendingCheck
from frepo_core.plugins.checks.upload_check import Covers, OnFinding

from ...base.keyset import Page, PageRequest, cut, paged
from ...base.records import VersionRecord
from ...events.actors import actor_columns
from ...events.recording import NewEvent, record

log = logging.getLogger(__name__)

Outcome = Literal["good", "suspicious", "broken", "pending", "not checked"]
GOOD: Outcome = "good"
BROKEN: Outcome = "broken"
PENDING: Outcome = "pending"
UNKNOWN: Outcome = "not checked"
_INSERT = insert_of(VersionCheck)


@struct
class NewCheck:
    """A result to record: the check's name, its outcome, a sentence for people, and details that are JSON.

    `covers` is how far a good result goes, and `kinds` and `database` are what the content is, as in a `CheckResult`.
    `on_finding` is what follows if a version that waited is broken, None for what the settings say. `is_of_service`
    says that the service or a plug-in found it, so that no client may replace it. `attempts` is how many there were
    with this one, which may have been counted before it began; None for one more than are counted.
    """

    name: str
    outcome: Outcome
    message: str
    details: dict[str, Any] = field(default_factory=dict)
    is_of_service: bool = True
    covers: Covers | None = None
    on_finding: OnFinding | None = None
    kinds: tuple[str, ...] | None = None
    database: str = ""
    attempts: int | None = None


@struct
class CheckRecord:
    """A recorded result without its details. `at` is UTC (aware); `actor` is as in events."""

    version_id: str
    collection_id: str
    version_number: int
    name: str
    outcome: Outcome
    message: str
    at: datetime
    actor: str


@struct
class DetailedCheck(CheckRecord):
    """A recorded result with its details."""

    details: dict[str, Any]


def write_checks(
    session: Session, version: Version, checks: Iterable[NewCheck], *, by: By, has_events: bool = True
) -> None:
    """Insert or replace results in the session's transaction, with their events. A pending check has no event yet.

    What the service found against a version stays when a later attempt says nothing: that one is an event only.
    """
    now = utc_now()
    for check in checks:
        row = session.get(VersionCheck, (version.id, check.name)) or VersionCheck(
            version_id=version.id, name=check.name
        )
        if not (check.outcome == "not checked" and _speaks_against_version(row)):
            row.outcome, row.message, row.details, row.at = check.outcome, check.message, check.details, now
            row.covers = check.covers
            row.actor, row.is_of_service = str(actor_columns(by)["actor"]), check.is_of_service
            session.add(row)
        if has_events and check.outcome != PENDING:
            record(session, _event(version.collection_id, version.number, version.file_id, check, by))
        if check.name == RESTORE:
            last = update(Collection).where(Collection.id == version.collection_id)
            session.execute(last.values(restore_tried_at=now, restore_outcome=check.outcome))
            if check.outcome == "good":
                session.execute(last.values(restore_tested_at=now))


def _speaks_against_version(row: VersionCheck) -> bool:
    """Return whether the service found the version broken or suspicious. Only jobs and `frepo` have a colon."""
    return row.outcome in {BROKEN, "suspicious"} and (row.is_of_service or ":" in row.actor)


def insert_checks(session: Session, version: VersionRecord, checks: Sequence[NewCheck], *, by: By) -> list[NewEvent]:
    """Insert the results of a new version, which has none yet, with one statement. Return the events about them."""
    if not checks:
        return []
    same = {"version_id": version.id, "at": utc_now(), "actor": actor_columns(by)["actor"]}
    insert_rows(session, _INSERT, [{**same, **_columns(check)} for check in checks])
    told = [check for check in checks if check.outcome != PENDING]
    return [_event(version.collection_id, version.number, version.file.id, check, by) for check in told]


def _columns(check: NewCheck) -> dict[str, Any]:
    names = ("name", "outcome", "message", "details", "is_of_service", "covers")
    return {name: getattr(check, name) for name in names}


def _event(collection_id: str, number: int, file_id: int, check: NewCheck, by: By) -> NewEvent:
    return NewEvent(
        kind=EventKind.VERSION_CHECKED,
        by=by,
        collection_id=collection_id,
        version_number=number,
        file_id=file_id,
        data={"check": check.name, "outcome": check.outcome, "message": check.message},
    )


class VersionChecks:
    """The use cases of results of checks."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def outcomes(self, collection_id: str, number: int | None = None) -> list[CheckRecord]:
        """Return the results of a collection's versions, or of one of them, ascending by version and name."""
        return self._records(_of_collection(collection_id, number))

    def of_collection(self, collection_id: str, number: int | None = None) -> list[DetailedCheck]:
        """Return the same with the details, which may have 16 KiB for each result of a client."""
        query = _of_collection(collection_id, number).options(undefer(VersionCheck.details))
        with self._database.reading() as session:
            return [detailed_check(*row) for row in session.execute(query)]

    def page(self, collection_id: str, page: PageRequest, outcomes: Sequence[Outcome] = ()) -> Page[CheckRecord]:
        """Return a page of the results of a collection's versions, the newest version first; `outcomes`: only these."""
        query = _select().where(Version.collection_id == collection_id)
        if outcomes:
            query = query.where(VersionCheck.outcome.in_(outcomes))
        page = replace(page, is_descending=True)
        rows = self._records(paged(query, page, [Version.number, VersionCheck.name]))
        return cut(rows, page, lambda check: [check.version_number, check.name])

    def pending(self, name: str, *, limit: int, without: Sequence[str] = ()) -> Sequence[PendingCheck]:
        """Return up to `limit` versions whose check `name` is pending, in rounds: one of each collection.

        In a collection, those that were tried least often come first, the oldest of them first, because later ones are
        compared with it; in a round, the smallest. `without` are ids of versions that are left out.
        """
        order = (VersionCheck.attempts, Version.number)
        of_collection = func.row_number().over(partition_by=Version.collection_id, order_by=order)
        query = (
            select(Version, VersionCheck.at, VersionCheck.attempts)
            .join(VersionCheck, VersionCheck.version_id == Version.id)
            .join(File, File.id == Version.file_id)
            .join(Content, Content.id == File.content_id)
            .options(joinedload(Version.file).joinedload(File.blob))
            .where(VersionCheck.name == name, VersionCheck.outcome == PENDING)
            .order_by(of_collection, Content.size, Version.collection_id)
            .limit(limit)
        )
        if without:
            query = query.where(VersionCheck.version_id.not_in(without))
        with self._database.reading() as session:
            return [_pending(name, *row) for row in session.execute(query)]

    def _records(self, query: Any) -> list[CheckRecord]:
        with self._database.reading() as session:
            return [_record(row, collection_id, number) for row, collection_id, number in session.execute(query)]


def log_check(collection_id: str, number: int, check: NewCheck, by: By) -> None:
    """Log a result; one that is broken is an error."""
    level = logging.ERROR if check.outcome == BROKEN else logging.INFO
    text = "collection %s: check %s of version %s by %s: %s: %s"
    log.log(level, text, collection_id, check.name, number, describe_actor(by), check.outcome, check.message)


def _of_collection(collection_id: str, number: int | None) -> Any:
    query = _select().where(Version.collection_id == collection_id)
    if number is not None:
        query = query.where(Version.number == number)
    return query.order_by(Version.number, VersionCheck.name)


def _select() -> Any:
    return select(VersionCheck, Version.collection_id, Version.number).join(
        Version, Version.id == VersionCheck.version_id
    )


def _pending(name: str, version: Version, since: datetime, attempts: int) -> PendingCheck:
    return PendingCheck(
        name=name,
        version_id=version.id,
        collection_id=version.collection_id,
        version_number=version.number,
        file_name=version.file.requested_name,
        mime_type=version.file.blob.mime,
        size=version.file.blob.size,
        since=since,
        attempts=attempts,
    )


def detailed_check(row: VersionCheck, collection_id: str, number: int) -> DetailedCheck:
    """Return the record of a row whose details are loaded."""
    return DetailedCheck(**vars(_record(row, collection_id, number)), details=row.details)


def _record(row: VersionCheck, collection_id: str, number: int) -> CheckRecord:
    return CheckRecord(
        version_id=row.version_id,
        collection_id=collection_id,
        version_number=number,
        name=row.name,
        outcome=row.outcome,  # type: ignore[arg-type]  # only `NewCheck` is written
        message=row.message,
        at=row.at,
        actor=row.actor,
    )
