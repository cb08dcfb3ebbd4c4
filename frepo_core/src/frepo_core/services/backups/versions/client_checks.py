"""Results of checks that clients have made: bounded, and apart from those of the service and of plug-ins."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session, undefer

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Event, Version, VersionCheck
from frepo_core.domain.backups.runs import RUN
from frepo_core.domain.backups.verdicts import RESTORE
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity
from frepo_core.domain.sizes import readable_size
from frepo_core.errors import FieldsError, NotFoundError

from .version_checks import DetailedCheck, NewCheck, detailed_check, log_check, write_checks

RESTORE_OF_CLIENT = f"{RESTORE} (client)"
DETAILS_BYTES = 16 << 10
MAX_NAMES = 20
EVENT_INTERVAL = timedelta(minutes=1)


class ClientChecks:
    """Records what clients have found. `reserved` are the names of the checks of plug-ins."""

    def __init__(self, database: Database, reserved: Iterable[str]) -> None:
        self._database = database
        self._reserved = frozenset(reserved) | {RUN}

    def record(self, version_id: str, check: NewCheck, *, by: Identity) -> DetailedCheck:
        """Record a result, and return it. It replaces the one of the same name. `restore` becomes `restore (client)`.

        There is an event about it unless there is one of the last minute about this version and this token.
        Raises `FieldsError` for a name that is not the client's, for the 21st name and for details above 16 KiB, and
        `NotFoundError` if the version was deleted.
        """
        _check_details(check)
        name = RESTORE_OF_CLIENT if check.name == RESTORE else check.name
        check = replace(check, name=name, is_of_service=False)

        def work(session: Session) -> tuple[DetailedCheck, bool] | None:
            version = session.scalar(select(Version).where(Version.id == version_id).with_for_update())
            if version is None:
                return None
            self._check_name(session, version, check.name)
            is_told = not self._was_told(session, version, by)
            write_checks(session, version, [check], by=by, has_events=is_told)
            session.flush()
            row = session.get_one(VersionCheck, (version.id, check.name), options=[undefer(VersionCheck.details)])
            return detailed_check(row, version.collection_id, version.number), is_told

        done = self._database.write(work)
        if done is None:
            raise NotFoundError("The version was deleted meanwhile")
        record, is_told = done
        if is_told:
            log_check(record.collection_id, record.version_number, check, by)
        return record

    def _check_name(self, session: Session, version: Version, name: str) -> None:
        """Raise `FieldsError` if the result of this name is not one of a client, or if it is one too many."""
        columns = (VersionCheck.name, VersionCheck.actor, VersionCheck.is_of_service)
        found = session.execute(select(*columns).where(VersionCheck.version_id == version.id)).all()
        # Only the service, its jobs and `frepo` have a colon in their names.
        others = self._reserved | {row.name for row in found if row.is_of_service or ":" in row.actor}
        if name in others:
            raise _wrong_name(f"The check {name!r} is one of the service or of a plug-in: choose another name")
        theirs = {row.name for row in found} - others
        if name not in theirs and len(theirs) >= MAX_NAMES:
            raise _wrong_name(f"The version has {MAX_NAMES} checks of clients: use a name that it has")

    def _was_told(self, session: Session, version: Version, by: Identity) -> bool:
        query = select(Event.data).where(
            Event.at > utc_now() - EVENT_INTERVAL,
            Event.kind == EventKind.VERSION_CHECKED.value,
            Event.collection_id == version.collection_id,
            Event.version_number == version.number,
            Event.actor == by.fingerprint,
        )
        # The sender of a version is the actor of what plug-ins found when it arrived, too.
        return any(data["check"] not in self._reserved for data in session.scalars(query))


def _check_details(check: NewCheck) -> None:
    size = len(json.dumps(check.details, ensure_ascii=False, separators=(",", ":")).encode())
    if size > DETAILS_BYTES:
        excess, most = readable_size(size - DETAILS_BYTES), readable_size(DETAILS_BYTES)
        raise FieldsError({"details": [f"The details have {excess} more as JSON than the {most} that are kept"]})


def _wrong_name(text: str) -> FieldsError:
    return FieldsError({"name": [text]})
