"""Requests to run a job now. They are stored, because the process that gets one may not be the one that leads."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import JobRequest
from frepo_core.domain.structs import struct


@struct
class RequestRecord:
    """A requested run that has not begun. `requested_by` is as the actor of an event."""

    name: str
    requested_at: datetime
    requested_by: str


def store_request(database: Database, name: str, by: str, now: datetime) -> RequestRecord:
    """Request a run of a job. If one is already requested, return that request."""

    def work(session: Session) -> RequestRecord:
        row = session.get(JobRequest, name)
        if row is None:
            row = JobRequest(name=name, requested_at=now, requested_by=by)
            session.add(row)
            session.flush()
        return _record(row)

    return database.write(work)


def find_requests(database: Database, names: Iterable[str]) -> list[RequestRecord]:
    """Return the requests for these jobs, the earliest first."""
    query = select(JobRequest).where(JobRequest.name.in_(list(names)))
    with database.reading() as session:
        return [_record(row) for row in session.scalars(query.order_by(JobRequest.requested_at, JobRequest.name))]


def take_request(database: Database, request: RequestRecord) -> bool:
    """Remove a request whose run begins. Return False if another process was faster."""
    same = (JobRequest.name == request.name, JobRequest.requested_at == request.requested_at)
    return database.execute(delete(JobRequest).where(*same)) > 0


def _record(row: JobRequest) -> RequestRecord:
    return RequestRecord(name=row.name, requested_at=row.requested_at, requested_by=row.requested_by)
